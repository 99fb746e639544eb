/* Work that uses the CPU and nothing else: no memory, no call into the system or MPI. Measured in units of a
 * fixed number of additions, so that it takes longer when the core is shared, as real work does. */
#ifndef BENCH_BUSY_H
#define BENCH_BUSY_H

#include <errno.h>
#include <time.h>

static volatile double busy_result;

static inline void busy_units(long units) {
  double sum = busy_result;
  for (long i = 0; i < units; i++)
    for (int k = 0; k < 100; k++) {
      sum += 1e-9;
      __asm__ volatile("" : "+x"(sum)); /* the additions happen, one after the other */
    }
  busy_result = sum;
}

static inline double busy_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Units per second: the best of some milliseconds, when nobody else had the core. */
static inline double busy_rate(void) {
  double best = 0;
  for (int attempt = 0; attempt < 20; attempt++) {
    const long units = 5000;
    double start = busy_clock();
    busy_units(units);
    double rate = (double)units / (busy_clock() - start);
    if (rate > best) best = rate;
  }
  return best;
}

/* Holds the core for a time without using it. To a runtime of MPI this is computation like any other: the
 * rank does not enter MPI, and no other rank runs on its worker. For machines that are busy with something
 * else, where computing would measure that. */
static inline void hold_core(double seconds) {
  double end = busy_clock() + seconds;
  struct timespec until = {(time_t)end, (long)(1e9 * (end - (double)(time_t)end))};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

#endif
