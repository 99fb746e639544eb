/* OpenMP regions inside ranks: MPI by the master only, by one thread at a time, by all of them; messages
 * between threads of ranks that share a worker, whose masters wait at the region's barriers. Without an
 * argument the default number of threads is checked, which is 1 if ranks share cores. */
#include <omp.h>

#include "check.h"

enum { kThreads = 3 };

static void exchange(int tag) {
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  int out = world_rank * 1000 + tag, in = -1;
  CHECK_OK(
      MPI_Sendrecv(&out, 1, MPI_INT, to, tag, &in, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(in, from * 1000 + tag);
}

int main(int argc, char** argv) {
  int provided, total = 0;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (argc > 1) CHECK_EQ(omp_get_max_threads(), atoi(argv[1]));
  omp_set_dynamic(0);
  omp_set_num_threads(kThreads);

#pragma omp parallel reduction(+ : total)
  {
    CHECK_EQ(omp_get_num_threads(), kThreads);
#pragma omp masked
    exchange(1);
#pragma omp barrier
    total += omp_get_thread_num();
  }
  CHECK_EQ(total, kThreads * (kThreads - 1) / 2);

  /* Each thread with the threads of the same number. */
  for (int round = 0; round < 5; round++) {
#pragma omp parallel
    exchange(10 + omp_get_thread_num());
  }
  /* Only threads that are not the master, which waits at the end of the region, or at a barrier in it. */
  for (int round = 0; round < 5; round++) {
#pragma omp parallel
    {
      if (omp_get_thread_num() != 0) exchange(20 + omp_get_thread_num());
#pragma omp barrier
      if (omp_get_thread_num() == 1) exchange(30);
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 4; i++) CHECK(omp_get_thread_num() < kThreads);
#pragma omp single
      exchange(31);
    }
  }
  /* Loops whose iterations communicate: iteration i of each rank with iteration i of its neighbours. */
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < kThreads; i++) exchange(40 + i);
#pragma omp parallel sections
  {
#pragma omp section
    (void)argc;
#pragma omp section
    if (omp_get_thread_num() != 0) total++;
  }
  /* A region that a thread opens in one. */
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(2)
      {
        exchange(50 + omp_get_thread_num());
#pragma omp barrier
        if (omp_get_thread_num() == 1) exchange(52);
      }
    }
#pragma omp barrier
    exchange(60 + omp_get_thread_num());
  }
  return check_end();
}
