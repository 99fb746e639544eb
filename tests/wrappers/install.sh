#!/bin/sh
# install.sh CMAKE BUILD MOVED: installs into one prefix and moves it to MOVED, for the tests that follow.
set -eu
cmake=$1 build=$2 moved=$3
rm -rf "$moved" "$moved.first"
"$cmake" --install "$build" --prefix "$moved.first" > "$build/install.log" || { cat "$build/install.log"; exit 1; }
mv "$moved.first" "$moved"
for file in bin/tmpirun bin/tmpicc bin/tmpicxx bin/mpicc bin/mpiexec include/mpi.h include/mpix.h include/mpif.h lib/libtmpi.so bin/tmpifort bin/mpif90 lib/libtmpifort.so \
  lib/tmpi/fortran/mpi_f08.f90 lib/pkgconfig/tmpi-fortran.pc lib/libtmpi-shim.so lib/libtmpi_msgq.so \
  lib/libmpi_abi.so.1 lib/libmpi_abi.so.0 lib/libmpi_abi.so lib/libmpifort_abi.so.1 lib/libmpifort_abi.so.0 bin/mpicc_abi bin/mpicxx_abi \
  bin/mpifort_abi lib/tmpi/start.o lib/pkgconfig/tmpi.pc lib/cmake/tmpi/tmpiConfig.cmake share/doc/tmpi/README.md \
  share/doc/tmpi/docs/README.md bin/tmpi-advise bin/tmpi-gdb bin/tmpi-top share/tmpi/tmpi_gdb.py share/tmpi/tmpi_debugger/commands.py \
  share/modulefiles/tmpi share/man/man1/tmpirun.1 share/man/man1/mpicc.1 share/man/man7/tmpi.7 share/bash-completion/completions/mpirun \
  share/zsh/site-functions/_tmpirun share/fish/vendor_completions.d/tmpirun.fish; do
  [ -e "$moved/$file" ] || { echo "$file is not installed"; exit 1; }
done
twice=$(sed -n 's/^-- [A-Z][-a-z]*: //p' "$build/install.log" | sort | uniq -d)
[ -z "$twice" ] || { echo "installed twice, the second over the first: $twice"; exit 1; }
if grep -rlF "$moved.first" "$moved" | grep -v '\.md$'; then
  echo "these files name the prefix they were installed to, so the tree cannot be moved"
  exit 1
fi
