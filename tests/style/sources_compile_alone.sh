#!/bin/sh
# sources_compile_alone.sh CMAKE ROOT BUILD: builds everything in BUILD without grouping (cmake/TmpiGrouped.cmake), so that a source that lives on
# what another one includes does not compile. Without an option that clang, whose clang-tidy reads this tree's commands, does not know.
set -eu
cmake=$1 root=$2 build=$3
launcher=
if command -v ccache > /dev/null; then
  launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
fi
# shellcheck disable=SC2086 # options are words
"$cmake" -S "$root" -B "$build" -G Ninja $launcher -DTMPI_GROUPED=OFF -DTMPI_WERROR=ON -DTMPI_HAS_MEMSET_STRATEGY=OFF
"$cmake" --build "$build"
