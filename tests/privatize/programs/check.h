/* What the loader's test programs share: the harness that runs them (harness.cpp) exports these functions.
 * Each program is run as many ranks at once and checks from the inside that nothing of another rank shows.
 * Without the harness the functions are absent and the program runs as a single process. */
#ifndef TMPI_TESTS_CHECK_H
#define TMPI_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
int tmpi_test_rank(void) __attribute__((weak));
void tmpi_test_yield(void) __attribute__((weak)); /* runs all other ranks up to their next yield */
void tmpi_test_failed(const char* file, int line, const char* what) __attribute__((weak));
void tmpi_test_count(const char* event) __attribute__((weak)); /* counted over all ranks */
#ifdef __cplusplus
}
#endif

static inline int test_rank(void) {
  return tmpi_test_rank ? tmpi_test_rank() : 0;
}
static inline void test_yield(void) {
  if (tmpi_test_yield) tmpi_test_yield();
}
static inline void test_count(const char* event) {
  if (tmpi_test_count) tmpi_test_count(event);
}
static inline void test_failed(const char* file, int line, const char* what) {
  if (tmpi_test_failed) {
    tmpi_test_failed(file, line, what);
  } else {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
  }
}
#define CHECK(condition) ((condition) ? (void)0 : test_failed(__FILE__, __LINE__, #condition))

#endif
