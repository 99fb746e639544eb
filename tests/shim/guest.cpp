// The C half of the program that the tests run as several ranks.
#undef NDEBUG
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "privatize/shim/shim.h"

extern "C" {

int test_starting_rank();

// Before every other constructor, as the loader calls it.
__attribute__((constructor(101))) static void start(int argc, char** argv, char** environment_of_test) {
  static char variable[] = "TMPI_TEST_RANK=0000";
  static char inherited[] = "TMPI_TEST_INHERITED=yes";
  static char* environment[] = {variable, inherited, nullptr};
  snprintf(variable, sizeof variable, "TMPI_TEST_RANK=%d", test_starting_rank());
  tmpi_shim_start(test_starting_rank(), environment);
  tmpi_shim_take_arguments(argc, argv, environment_of_test);
}

FILE* guest_stdout() {
  return stdout;
}
FILE* guest_stderr() {
  return stderr;
}
FILE* guest_stdin() {
  return stdin;
}
char** guest_environ() {
  return environ;
}

void guest_assert() {
  assert(1 + 1 == 3);
}

void guest_register_atexit(void (*function)()) {
  atexit(function);
}

void guest_wide() {
  wprintf(L"%ls %d ", L"wide", 42);
  fputws(L"text", stdout);
  putwchar(L'!');
  printf(" narrow\n");
}
}
