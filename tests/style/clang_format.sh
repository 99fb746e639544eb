#!/bin/sh
# clang_format.sh CLANG_FORMAT ROOT: fails and names the files that clang-format would change. Generated mpi.h is not among them.
# Each version breaks some lines otherwise: the sources are formatted by the one of Debian 12.
set -eu
format=$1
version=$("$format" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" != 14 ]; then
  echo "skipped: clang-format here is version $version, and the sources are formatted by 14"
  exit 77
fi
cd "$2"
# Many files at a time: most of its time is its start.
if ! complaints=$(find src privatize tools tests bench examples -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 |
  xargs -0 -n 40 -P "$(nproc)" "$format" --dry-run -Werror 2>&1); then
  wrong=$(printf '%s\n' "$complaints" | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error:.*/\1/p' | sort -u)
  printf 'not formatted by .clang-format (run clang-format -i on them):\n%s\n' "${wrong:-$complaints}"
  exit 1
fi
