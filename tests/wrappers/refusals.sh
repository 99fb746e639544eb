#!/bin/sh
# What cannot become a tmpi program is refused by a sentence that says what to do; only when it would have an effect.
. "$(dirname "$0")/lib.sh"

t_refused() {
  write_hello
  for option in -static --static -static-pie -no-pie -Wl,-no-pie -m32 -fsplit-stack; do
    expect_failure "^tmpicc: ${option#-Wl,} .*Leave the option out" tmpicc $option hello.c -o hello
    test ! -f hello
  done
}

t_not_refused_without_a_link() {
  write_hello
  tmpicc -no-pie -c hello.c
  tmpicc -static -c hello.c
  tmpicc hello.o -o hello
  check_hello ./hello
}

t_loader_refuses_foreign_programs() {
  echo 'int main(void) { return 0; }' > a.c
  gcc -static a.c -o static
  gcc -no-pie a.c -o fixed
  expect_failure "tmpicc" tmpirun -n 1 ./static
  expect_failure "tmpicc" tmpirun -n 1 ./fixed
}

run_cases
