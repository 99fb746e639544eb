#!/bin/sh
# Projects of CMake and meson that look for an installed tmpi: find_package(MPI) with the prefix on PATH, and find_package(tmpi).
. "$(dirname "$0")/lib.sh"
prefix=$(dirname "$bin")

t_find_mpi() {
  write_hello
  write_hello hello_cxx.cpp
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello C CXX)
find_package(MPI 3.0 REQUIRED COMPONENTS C CXX)
message(STATUS "version ${MPI_C_VERSION} launcher ${MPIEXEC_EXECUTABLE}")
add_library(part SHARED part.c)
target_link_libraries(part MPI::MPI_C)
add_executable(hello hello.c)
target_link_libraries(hello MPI::MPI_C part)
add_executable(hello_cxx hello_cxx.cpp)
target_link_libraries(hello_cxx MPI::MPI_CXX)
enable_testing()
add_test(NAME two COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:hello>)
END
  printf '#include <mpi.h>\nint part(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n' > part.c
  cmake -S . -B build > log
  grep -q "version 5.0 launcher $prefix/bin/mpiexec" log || { cat log; fail "find_package(MPI) found another MPI"; }
  cmake --build build
  check_hello build/hello
  check_hello build/hello_cxx
  (cd build && ctest --output-on-failure)
}

# Linked by the plain compiler or by ours, a program's thread-locals are the rank's.
t_find_mpi_with_thread_locals() {
  write_hello
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(hello hello.c)
target_link_libraries(hello MPI::MPI_C)
END
  cmake -S . -B plain
  cmake --build plain
  check_hello plain/hello
  cmake -S . -B build -DCMAKE_C_COMPILER=mpicc
  cmake --build build
  check_hello build/hello
}

# meson's dependency('mpi'): of several mpicc it takes the one of the highest version, so it is told which.
t_meson() {
  command -v meson > /dev/null || return 0
  write_hello
  cat > meson.build << 'END'
project('hello', 'c')
executable('hello', 'hello.c', dependencies: dependency('mpi', language: 'c'))
END
  printf "[binaries]\nmpicc = '%s'\n" "$bin/mpicc" > tmpi.ini
  PKG_CONFIG_LIBDIR=/nonexistent meson setup --native-file tmpi.ini build
  meson compile -C build
  check_hello build/hello
  sed "s/dependency('mpi', language: 'c')/dependency('tmpi')/" meson.build > meson.new
  mv meson.new meson.build
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig meson setup pkgconfig
  meson compile -C pkgconfig
  check_hello pkgconfig/hello
}

t_find_tmpi() {
  write_hello
  write_hello hello_cxx.cpp
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello C CXX)
find_package(tmpi REQUIRED)
add_library(part SHARED part.c)
target_link_libraries(part tmpi::mpi)
add_executable(hello hello.c)
target_link_libraries(hello tmpi::mpi part)
add_executable(hello_cxx hello_cxx.cpp)
target_link_libraries(hello_cxx tmpi::mpi)
END
  printf '#include <mpi.h>\nint part(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n' > part.c
  cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build build
  check_hello build/hello
  check_hello build/hello_cxx
}

run_cases
