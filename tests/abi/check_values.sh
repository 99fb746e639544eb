#!/bin/sh
# check_values.sh PYTHON TOOLS STANDARD COMPILER INCLUDE: compiles and runs a program that asserts every value, size and prototype of mpi.h.
set -eu
python=$1 tools=$2 standard=$3 compiler=$4 include=$5
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
case $standard in
  c++*) language=c++ ;;
  *) language=c ;;
esac
"$python" "$tools/generate_mpi_h.py" --test "$directory/values.c"
"$compiler" -x $language "-std=$standard" -Wall -Wextra -Wpedantic -Werror "-I$include" "$directory/values.c" -o "$directory/values"
"$directory/values"
