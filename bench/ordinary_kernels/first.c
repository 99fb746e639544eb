#include "library.h"

static uint64_t calls;

uint64_t first_library(uint64_t value, uint64_t sum) {
  calls++;
  return second_library(value ^ sum) + calls;
}
