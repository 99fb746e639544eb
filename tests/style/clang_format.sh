#!/bin/sh
# clang_format.sh CLANG_FORMAT ROOT: fails and names the files that clang-format would change. Generated mpi.h is not among them.
set -eu
format=$1
cd "$2"
# shellcheck disable=SC2016 # the inner shell expands them
wrong=$(find src privatize tools tests bench examples -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 |
  xargs -0 -n 1 -P "$(nproc)" sh -c '"$0" --dry-run -Werror "$1" > /dev/null 2>&1 || echo "$1"' "$format" | sort)
if [ -n "$wrong" ]; then
  printf 'not formatted by .clang-format (run clang-format -i on them):\n%s\n' "$wrong"
  exit 1
fi
