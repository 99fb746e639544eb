#!/bin/sh
# Fortran from an installed tree, moved after installation: CMake's find_package(MPI) and find_package(tmpi), meson, pkg-config, mpif90.
. "$(dirname "$0")/lib.sh"
prefix=$(dirname "$bin")

t_find_mpi() {
  cp "$here/hello.f90" "$here/hello_fixed.f" .
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello Fortran)
find_package(MPI 3.0 REQUIRED COMPONENTS Fortran)
message(STATUS "version ${MPI_Fortran_VERSION} f77 ${MPI_Fortran_HAVE_F77_HEADER} f90 ${MPI_Fortran_HAVE_F90_MODULE} f08 ${MPI_Fortran_HAVE_F08_MODULE}")
add_executable(hello hello.f90)
target_link_libraries(hello MPI::MPI_Fortran)
add_executable(fixed hello_fixed.f)
target_link_libraries(fixed MPI::MPI_Fortran)
END
  cmake -S . -B build > log
  grep -Eq "version 5.0 f77 (TRUE|1) f90 (TRUE|1) f08 (TRUE|1)" log || { cat log; fail "find_package(MPI) found another MPI"; }
  cmake --build build
  check_hello build/hello
  check_hello build/fixed
}

# A mixed project, by the plain compilers: COMMON, SAVE and module variables, and C's globals, are a rank's own all the same.
t_find_mpi_fortran_and_c() {
  cp "$here/mixed.f90" "$here/mixed.c" .
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(mixed Fortran C)
find_package(MPI REQUIRED COMPONENTS Fortran C)
add_library(part STATIC mixed.c)
target_link_libraries(part MPI::MPI_C)
add_executable(mixed mixed.f90)
target_link_libraries(mixed part MPI::MPI_Fortran)
END
  cmake -S . -B plain
  cmake --build plain
  cmake -S . -B build -DCMAKE_Fortran_COMPILER=mpifort -DCMAKE_C_COMPILER=mpicc
  cmake --build build
  for program in plain/mixed build/mixed; do
    expect "64 ranks have their own" tmpirun -n 64 $program
    expect "1 ranks have their own" $program
  done
}

t_meson() {
  command -v meson > /dev/null || return 0
  cp "$here/mixed.f90" "$here/mixed.c" .
  cat > meson.build << 'END'
project('mixed', 'c', 'fortran')
executable('mixed', 'mixed.f90', 'mixed.c', dependencies: [dependency('mpi', language: 'fortran'), dependency('mpi', language: 'c')])
END
  printf "[binaries]\nmpicc = '%s'\nmpifort = '%s'\n" "$bin/mpicc" "$bin/mpifort" > tmpi.ini
  PKG_CONFIG_LIBDIR=/nonexistent meson setup --native-file tmpi.ini build
  meson compile -C build
  expect "5 ranks have their own" tmpirun -n 5 build/mixed
}

t_find_tmpi() {
  cp "$here/hello.f90" .
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello Fortran)
find_package(tmpi REQUIRED)
add_executable(hello hello.f90)
target_link_libraries(hello tmpi::fortran)
END
  cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build build
  check_hello build/hello
}

t_fc() {
  cp "$here/hello.f90" .
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(hello Fortran)\nadd_executable(hello hello.f90)\n' > CMakeLists.txt
  cmake -S . -B build -DCMAKE_Fortran_COMPILER=mpif90
  cmake --build build
  check_hello build/hello
}

t_pkg_config() {
  command -v pkg-config > /dev/null || return 0
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  cp "$here/hello.f90" .
  # shellcheck disable=SC2046 # options are words
  gfortran hello.f90 $(pkg-config --cflags --libs tmpi-fortran) -o hello
  check_hello ./hello
}

run_cases
