#!/bin/sh
# Fortran from an installed tree, moved after installation: CMake's find_package(MPI) and find_package(tmpi), pkg-config, mpif90.
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
