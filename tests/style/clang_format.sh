#!/bin/sh
# clang_format.sh CLANG_FORMAT ROOT: fails and names the files that clang-format would change. Generated mpi.h is not among them.
set -eu
format=$1
cd "$2"
# Many files at a time: most of its time is its start.
if ! complaints=$(find src privatize tools tests bench examples -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 |
  xargs -0 -n 40 -P "$(nproc)" "$format" --dry-run -Werror 2>&1); then
  wrong=$(printf '%s\n' "$complaints" | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error:.*/\1/p' | sort -u)
  printf 'not formatted by .clang-format (run clang-format -i on them):\n%s\n' "${wrong:-$complaints}"
  exit 1
fi
