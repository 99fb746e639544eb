#!/bin/sh
# clang_tidy.sh CLANG_TIDY ROOT BUILD [FILE...]: runs clang-tidy with .clang-tidy on the sources of src, privatize and tools that the build in
# BUILD compiles (or on the given ones), and fails if it finds something. -O0: else libc's inline functions hide the shim's.
set -eu
tidy=$1 root=$2 build=$3
shift 3
cd "$root"
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046 # no spaces in our file names
  set -- $(sed -n 's/^ *"file": "\(.*\)"$/\1/p' "$build/compile_commands.json" | sort -u |
    grep -E "^$root/(src|privatize|tools)/" | grep '\.cpp$' | grep -v '_test\.cpp$')
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-O0 2> /dev/null
