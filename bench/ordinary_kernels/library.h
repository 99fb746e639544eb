/* Two shared libraries of the program's own that call each other. */
#pragma once
#include <stdint.h>

uint64_t first_library(uint64_t value, uint64_t sum); /* first.c; calls the other one */
uint64_t second_library(uint64_t value);              /* second.c */
