/* What the programs of this folder share beyond tests/mpi/check.h: they take steps, and between two steps every
 * rank has done the one before. So what a rank leaves in a library shows in the others' next step, where ranks
 * share it; and with several workers ranks are in the library at the same time. */
#ifndef TESTS_LIBRARIES_STEPS_H
#define TESTS_LIBRARIES_STEPS_H

#include <math.h>

#include "check.h"

static inline void next_step(void) {
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

#define CHECK_NEAR(got, want, tolerance)                                                            \
  do {                                                                                              \
    double check_got = (got), check_want = (want);                                                  \
    if (!(fabs(check_got - check_want) <= (tolerance)))                                             \
      check_failed(__FILE__, __LINE__, "%s is %.17g, should be %s = %.17g", #got, check_got, #want, \
                   check_want);                                                                     \
  } while (0)

/* The end of a program: rank 0 prints what all ranks have found, for the comparison with another MPI. */
static inline int end_with(double found) {
  double* all = (double*)check_malloc((size_t)world_size * sizeof(double));
  double sum = 0;
  CHECK_OK(MPI_Gather(&found, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  for (int i = 0; i < world_size && world_rank == 0; i++) sum += all[i] * (i + 1);
  free(all);
  if (world_rank == 0) printf("%d ranks, result %.9g\n", world_size, sum);
  MPI_Finalize();
  return 0;
}

#endif
