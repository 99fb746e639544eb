/* What the benchmarks share: command line, statistics of batches. Benchmarks are ordinary MPI programs; they
 * print one line per measurement, words separated by blanks, column names in the line that starts with '#',
 * which bench/compare reads. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Value of the option `name` ("--reps") in the command line, or `otherwise`. */
static inline const char* option_text(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}
static inline long option_number(int argc, char** argv, const char* name, long otherwise) {
  const char* text = option_text(argc, argv, name, NULL);
  return text == NULL ? otherwise : atol(text);
}
static inline int option_given(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return 1;
  return 0;
}

/* A list of sizes like "8,64,4K,1M". Returns how many were read. */
static inline int option_sizes(const char* text, long* sizes, int most) {
  int count = 0;
  while (*text != '\0' && count < most) {
    char* end;
    long size = strtol(text, &end, 10);
    if (*end == 'K') size <<= 10, end++;
    if (*end == 'M') size <<= 20, end++;
    sizes[count++] = size;
    if (*end != ',') break;
    text = end + 1;
  }
  return count;
}

static inline int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

/* Sorts the values; the median is the mean of the two middle ones of an even number. */
static inline double median_of(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static inline void* bench_memory(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes > 0 ? bytes : 1) != 0) {
    fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(memory, 1, bytes);
  return memory;
}

#endif
