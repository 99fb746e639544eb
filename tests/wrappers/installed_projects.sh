#!/bin/sh
# An installed tree, moved after installation: wrappers, pkg-config.
. "$(dirname "$0")/lib.sh"
prefix=$(dirname "$bin")

t_wrappers() {
  write_hello
  tmpicc hello.c -o hello
  check_hello ./hello
  mpicc hello.c -o hello
  expect "rank 0 of 1, seen 6" ./hello
  expect_match "of 2" mpiexec -n 2 ./hello
  readelf -dW hello | grep -q "$prefix/lib" || fail "the program looks for libtmpi.so elsewhere"
}

t_pkg_config() {
  command -v pkg-config > /dev/null || return 0
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  write_hello
  # shellcheck disable=SC2046 # options are words
  gcc hello.c $(pkg-config --cflags --libs tmpi) -o hello
  check_hello ./hello
  # A library linked with them stays one, and a program of it and of objects has the form of tmpicc's.
  printf 'int value(void) { return 6; }\n' > value.c
  # shellcheck disable=SC2046 # options are words
  gcc -shared value.c $(pkg-config --cflags --libs tmpi) -o libvalue.so
  ! readelf -nW libvalue.so | grep -q tmpi || fail "a library carries the note of programs"
  expect_match "^[0-9]+\.[0-9]+\.[0-9]+$" pkg-config --modversion tmpi
}

run_cases
