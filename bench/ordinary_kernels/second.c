#include "library.h"

static uint64_t last;

uint64_t second_library(uint64_t value) {
  const uint64_t before = last;
  last = value * 3 + 1;
  return before >> 7;
}
