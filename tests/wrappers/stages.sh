#!/bin/sh
# Preprocess, compile, assemble, link: in one step and in many, with any flags in any order.
. "$(dirname "$0")/lib.sh"

t_one_step() {
  write_hello
  tmpicc hello.c -o hello
  check_hello ./hello
  tmpicc hello.c
  check_hello ./a.out
}

t_two_steps() {
  write_hello
  tmpicc -c hello.c
  tmpicc hello.o -o hello
  check_hello ./hello
  tmpicc -o hello2 -O2 hello.o -lm
  check_hello ./hello2
}

t_cxx() {
  write_hello hello.cpp
  tmpicxx -Wall -Wextra -Werror hello.cpp -o hello
  check_hello ./hello
  tmpicc -c hello.cpp -o c.o # the C wrapper compiles C++ too, as gcc does
  tmpicxx c.o -o hello2
  check_hello ./hello2
}

t_from_stdin() {
  write_hello
  tmpicxx -x c++ - -o hello < hello.c
  check_hello ./hello
  tmpicc -xc -c -o hello.o - < hello.c
  tmpicc hello.o -o hello2
  check_hello ./hello2
}

t_flags_in_any_order() {
  write_hello
  tmpicc -O3 -march=native -g hello.c -o hello -std=c11 -fopenmp -Wall -Wextra -Werror
  check_hello ./hello
  tmpicc -std=gnu17 -o hello -flto -O2 hello.c
  check_hello ./hello
  tmpicc -flto -c hello.c
  tmpicc -O2 -flto hello.o -o hello
  check_hello ./hello
}

t_position_flags_are_neutralised() {
  write_hello
  for flag in -fPIE -fpie -pie -fno-pic -fno-pie -fPIC -rdynamic -fvisibility=hidden -static-libgcc \
    "-ffunction-sections -fdata-sections -Wl,--gc-sections" "-Wl,-z,relro -Wl,-z,now" "-Wl,-z,lazy" -Wl,--as-needed -s -Os \
    "-D_FORTIFY_SOURCE=2 -O2 -fstack-protector-strong" "-Wl,-O1,--sort-common" -Wl,--export-dynamic; do
    rm -f hello hello.o
    # shellcheck disable=SC2086 # flags are words
    tmpicc $flag hello.c -o hello || fail "$flag"
    check_hello ./hello
    case $flag in *Wl*) continue ;; esac
    # shellcheck disable=SC2086
    tmpicc $flag -c hello.c && tmpicc $flag hello.o -o hello
    check_hello ./hello
  done
}

t_stops_before_the_linker() {
  write_hello
  tmpicc -E hello.c > hello.i
  grep -q MPI_Barrier hello.i
  tmpicc -S hello.c -o hello.s
  tmpicc -c hello.s -o hello.o
  tmpicc hello.o -o hello
  check_hello ./hello
  expect_match '^hello.o: hello.c' tmpicc -M hello.c
  expect_match '/mpi\.h' tmpicc -M hello.c
  expect "hello.o: hello.c" sh -c "echo 'int x;' > hello.c && tmpicc -MM hello.c"
  tmpicc -MMD -MF deps.d -c hello.c
  grep -q hello.c deps.d
  tmpicc -fsyntax-only hello.c
  echo 'int header;' > all.h
  tmpicc all.h
  test -f all.h.gch
}

t_empty_and_odd_names() {
  mkdir "a b" && cd "a b"
  write_hello "he'l lo.c"
  tmpicc -DTEXT="\"a 'b' \$c\"" "he'l lo.c" -o "he l.lo" -I"$PWD"
  mkdir sub && cd sub
  expect "rank 0 of 1, seen 6" "../he l.lo"
}

t_response_file() {
  write_hello
  echo "-O2 -Wall hello.c -o 'my hello'" > flags
  tmpicc @flags
  expect "rank 0 of 1, seen 6" "./my hello"
  echo "-static hello.c" > flags
  expect_failure "Leave the option out" tmpicc @flags
}

t_partial_link() {
  write_hello
  echo 'int other(void) { return 0; }' > other.c
  tmpicc -c hello.c other.c
  tmpicc -r hello.o other.o -o both.o
  tmpicc both.o -o hello
  check_hello ./hello
}

t_undefined_symbols_are_errors() {
  echo 'int missing(void); int main(void) { return missing(); }' > a.c
  expect_failure "undefined (reference|symbol).*missing" tmpicc a.c
  echo '#include <mpi.h>
int main(void) { return MPI_Not_a_function(); }' > b.c
  expect_failure "MPI_Not_a_function" tmpicc b.c
  echo 'int x;' > c.c
  expect_failure "main" tmpicc c.c
}

t_exit_code_of_the_compiler() {
  echo 'syntax error' > a.c
  expect_failure "error" tmpicc -c a.c
  expect_failure "nosuch.c" tmpicc nosuch.c
}

run_cases
