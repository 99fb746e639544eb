#!/bin/sh
# Compilers and linkers: gcc and clang; bfd, gold and lld; link-time optimisation, OpenMP, exceptions across objects.
. "$(dirname "$0")/lib.sh"

have() { command -v "$1" > /dev/null; }

t_linkers() {
  write_hello
  for compiler in gcc clang; do
    have $compiler || continue
    for linker in bfd gold lld; do
      have ld.$linker || continue
      tmpicc -cc=$compiler -O2 -Wall -Werror -fuse-ld=$linker hello.c -o hello || fail "$compiler with $linker"
      check_hello ./hello
      tmpicc -cc=$compiler -O2 -fuse-ld=$linker -ffunction-sections -Wl,--gc-sections hello.c -o hello || fail "$compiler with $linker"
      check_hello ./hello
    done
  done
}

t_clang_warns_of_nothing() {
  have clang || return 0
  write_hello
  export TMPI_CC=clang TMPI_CXX=clang++
  tmpicc -Wall -Wextra -Werror -pie hello.c -o hello
  check_hello ./hello
  tmpicc -Wall -Werror -c hello.c
  tmpicc -Werror hello.o -o hello
  check_hello ./hello
  tmpicc -Werror -E hello.c > /dev/null
  tmpicc -Werror -S hello.c
  tmpicc -Werror -c hello.s
}

# A program that -ffast-math has linked starts with denormals as zero, as without tmpi; a library does nothing to who loads it.
t_fast_math() {
  cat > denormal.c << 'END'
#include <float.h>
#include <stdio.h>
int main(void) {
  volatile double small = DBL_MIN;
  small /= 4;
  puts(*(volatile long long*)&small ? "kept" : "flushed");
  return 0;
}
END
  echo 'double half(double x) { return x / 2; }' > half.c
  for compiler in gcc clang; do
    have $compiler || continue
    for option in -ffast-math -Ofast "-ffast-math -fno-fast-math"; do
      # shellcheck disable=SC2086 # options are words
      $compiler $option denormal.c -o plain
      # shellcheck disable=SC2086
      tmpicc -cc=$compiler $option denormal.c -o program
      expect "$(./plain)" ./program
      expect "$(./plain)" tmpirun -n 1 ./program
    done
    tmpicc -cc=$compiler -c denormal.c
    tmpicc -cc=$compiler -ffast-math denormal.o -o program
    expect flushed ./program
    tmpicc -cc=$compiler -shared -fPIC half.c -o libhalf.so
    tmpicc -cc=$compiler denormal.o -o program ./libhalf.so
    expect kept ./program
  done
  # shellcheck disable=SC2046 # words
  gcc -fPIC -ffast-math denormal.c -o program $(tmpicc --showme:link)
  expect flushed ./program
}

t_lto() {
  echo 'int shared_value = 5; int get(void) { return shared_value; }' > part.c
  cat > main.c << 'END'
#include <stdio.h>
int get(void);
extern int shared_value;
static _Thread_local int one = 1;
int main(void) {
  shared_value += one;
  printf("%d\n", get());
  return 0;
}
END
  for compiler in gcc "clang -fuse-ld=lld"; do
    have "${compiler%% *}" || continue
    [ "$compiler" = gcc ] || have ld.lld || continue
    tmpicc "-cc=$compiler" -flto -O3 -c part.c main.c
    tmpicc "-cc=$compiler" -flto -O3 part.o main.o -o program
    expect 6 ./program
    expect "6
6" tmpirun -n 2 ./program
  done
}

t_openmp() {
  cat > omp.c << 'END'
#include <mpi.h>
#include <stdio.h>
int main(void) {
  int sum = 0;
  MPI_Init(0, 0);
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 100; ++i) sum += i;
  printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
END
  tmpicc -fopenmp omp.c -o omp
  expect 4950 ./omp
}

t_exceptions_and_templates() {
  cat > a.cpp << 'END'
#include <iostream>
#include <stdexcept>
#include <vector>
#include <mpi.h>
void thrower(int value);
template <class T> T& counter() { static T value{}; return value; }
int main() {
  MPI_Init(nullptr, nullptr);
  try {
    thrower(7);
  } catch (const std::runtime_error& error) {
    MPI_Barrier(MPI_COMM_WORLD);
    counter<int>() += 1;
    std::cout << error.what() << ' ' << counter<int>() << std::endl;
  }
  MPI_Finalize();
}
END
  cat > b.cpp << 'END'
#include <stdexcept>
#include <string>
void thrower(int value) { throw std::runtime_error("thrown " + std::to_string(value)); }
END
  for compiler in g++ clang++; do
    have $compiler || continue
    tmpicxx -cxx=$compiler -std=c++17 -O2 -shared b.cpp -o libb.so
    tmpicxx -cxx=$compiler -std=c++17 -O2 a.cpp -L. -lb -Wl,-rpath,"$PWD" -o program
    expect "thrown 7 1" ./program
    expect "thrown 7 1
thrown 7 1" tmpirun -n 2 ./program
    tmpicxx -cxx=$compiler -static-libstdc++ -static-libgcc a.cpp b.cpp -o program
    expect "thrown 7 1" ./program
  done
}

run_cases
