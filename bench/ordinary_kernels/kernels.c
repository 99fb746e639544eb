/* What ordinary programs spend their time in, without a word of MPI but for start and end: bench/ordinary compiles it
 * with several MPIs and, with -DPLAIN, with none. Prints "kernel seconds", the best of several runs of each. */
#ifndef PLAIN
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "library.h"

enum { kSide = 40, kRows = kSide * kSide * kSide, kNear = 27, kTable = 4096, kRuns = 7 };

/* Hot loops that use these directly. */
double total;
int64_t histogram[256];
uint32_t state = 1;
static _Thread_local uint32_t thread_state = 1;
static _Thread_local int64_t thread_count[64];

static double *values, *x, *y;
static int *columns, *places;
static double table[kTable];

static void set_up(void) {
  values = malloc(sizeof *values * kRows * kNear);
  columns = malloc(sizeof *columns * kRows * kNear);
  places = malloc(sizeof *places * kRows);
  x = malloc(sizeof *x * kRows);
  y = malloc(sizeof *y * kRows);
  for (int row = 0; row < kRows; row++) {
    const int near = row - kSide * kSide - kSide - 1;
    for (int i = 0; i < kNear; i++) {
      const int column = near + i / 9 * kSide * kSide + i / 3 % 3 * kSide + i % 3;
      columns[row * kNear + i] = column < 0 ? 0 : column >= kRows ? kRows - 1 : column;
      values[row * kNear + i] = 1.0 / (i + 1);
    }
    x[row] = row % 17;
    y[row] = 0;
    places[row] = (int)((uint32_t)row * 2654435761u % kRows);
  }
  for (int i = 0; i < kTable; i++) table[i] = i * 0.5;
}

static void sparse_product(void) {
  for (int row = 0; row < kRows; row++) {
    double sum = 0;
    for (int i = row * kNear; i < (row + 1) * kNear; i++) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}

static void stencil(void) {
  const int plane = kSide * kSide;
  for (int times = 0; times < 20; times++) {
    for (int i = plane; i < kRows - plane; i++)
      y[i] = 0.4 * x[i] +
             0.1 * (x[i - 1] + x[i + 1] + x[i - kSide] + x[i + kSide] + x[i - plane] + x[i + plane]);
  }
}

static void gather(void) {
  double sum = 0;
  for (int times = 0; times < 30; times++) {
    for (int i = 0; i < kRows; i++) sum += x[places[i]];
  }
  y[0] = sum;
}

static void look_up(void) {
  double sum = 0;
  uint32_t at = 1;
  for (int i = 0; i < 1500000; i++) {
    at = at * 1664525 + 1013904223;
    sum += table[at >> 20];
  }
  y[0] = sum;
}

static void globals(void) {
  for (int i = 0; i < 1500000; i++) {
    state = state * 1664525 + 1013904223;
    histogram[state >> 24]++;
    total += (double)(state & 3);
  }
}

static void thread_locals(void) {
  for (int i = 0; i < 1500000; i++) {
    thread_state = thread_state * 1664525 + 1013904223;
    thread_count[thread_state >> 26]++;
  }
}

static void library_calls(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 700000; i++) sum += first_library(i, sum);
  y[1] = (double)sum;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kernels[] = {{"sparse_product", sparse_product},
                 {"stencil", stencil},
                 {"gather", gather},
                 {"look_up", look_up},
                 {"globals", globals},
                 {"thread_locals", thread_locals},
                 {"library_calls", library_calls}};
#ifndef PLAIN
  MPI_Init(&argc, &argv);
#else
  (void)argc, (void)argv;
#endif
  set_up();
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    double best = 1e9;
    for (int i = 0; i < kRuns; i++) {
      const double begin = seconds();
      kernels[k].run();
      const double took = seconds() - begin;
      if (took < best) best = took;
    }
    printf("%s %.9f\n", kernels[k].name, best);
  }
#ifndef PLAIN
  MPI_Finalize();
#endif
  return 0;
}
