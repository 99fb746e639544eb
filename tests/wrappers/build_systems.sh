#!/bin/sh
# CC=tmpicc serves make, autoconf and CMake projects unchanged.
. "$(dirname "$0")/lib.sh"

t_make_implicit_rules() {
  write_hello
  printf 'hello: hello.o\n' > Makefile
  make CC=tmpicc CFLAGS="-O2 -g"
  check_hello ./hello
}

t_autoconf() {
  write_hello
  cat > configure.ac << 'END'
AC_INIT([hello], [1.0])
AC_CONFIG_SRCDIR([hello.c])
AC_PROG_CC
AC_PROG_CXX
AC_C_CONST
AC_C_BIGENDIAN
AC_CHECK_HEADERS([unistd.h mpi.h nosuch.h])
AC_CHECK_SIZEOF([long])
AC_CHECK_LIB([m], [cos])
AC_SEARCH_LIBS([MPI_Init], [mpi], [], [AC_MSG_ERROR([no MPI])])
AC_CHECK_FUNCS([MPI_Barrier nosuch_function])
AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[return MPI_VERSION < 3]])], [], [AC_MSG_ERROR([cannot run])])
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
  printf 'hello: hello.o\n\t$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)\nCC = @CC@\nCFLAGS = @CFLAGS@ -I.\nLIBS = @LIBS@\n' > Makefile.in
  autoreconf -i 2> autoreconf.log || { autoconf && autoheader; }
  ./configure CC=tmpicc CXX=tmpicxx > configure.log || { cat configure.log config.log; exit 1; }
  grep -q 'cross compiling... no' configure.log || fail "configure thinks it cross-compiles"
  grep -q 'define HAVE_MPI_H 1' config.h
  grep -q 'define HAVE_MPI_BARRIER 1' config.h
  grep -q 'undef HAVE_NOSUCH_H' config.h
  grep -q 'undef HAVE_NOSUCH_FUNCTION' config.h
  grep -q 'define SIZEOF_LONG 8' config.h
  make
  check_hello ./hello
}

t_cmake() {
  write_hello
  write_hello hello_cxx.cpp
  cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(hello C CXX)
include(CheckFunctionExists)
check_function_exists(MPI_Init HAVE_MPI_INIT)
if(NOT HAVE_MPI_INIT)
  message(FATAL_ERROR "MPI_Init not found")
endif()
add_library(part SHARED part.c)
add_library(archive STATIC archive.c)
add_executable(hello hello.c)
set_target_properties(hello PROPERTIES POSITION_INDEPENDENT_CODE ON ENABLE_EXPORTS ON)
target_link_libraries(hello part archive)
add_executable(hello_cxx hello_cxx.cpp)
END
  echo 'int part(void) { return 1; }' > part.c
  echo 'int archive(void) { return 1; }' > archive.c
  cmake -S . -B build -DCMAKE_C_COMPILER=tmpicc -DCMAKE_CXX_COMPILER=tmpicxx -DCMAKE_BUILD_TYPE=Release
  cmake --build build
  check_hello build/hello
  check_hello build/hello_cxx
  # FindMPI must see that the compiler brings MPI itself.
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(f C)\nfind_package(MPI REQUIRED COMPONENTS C)\nadd_executable(h ../hello.c)\ntarget_link_libraries(h MPI::MPI_C)\n' > f.txt
  mkdir find && mv f.txt find/CMakeLists.txt
  cmake -S find -B find/build -DCMAKE_C_COMPILER=tmpicc
  cmake --build find/build
  check_hello find/build/h
}

run_cases
