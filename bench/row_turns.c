/* Large accumulates beside small ones: how long others wait meanwhile. Rank 0 makes accumulates of --bytes to the memory of
 * the last rank but one, which makes small ones of two elements to itself; all others look, call after call, how long it
 * takes until they are next. With 4 ranks on two workers rank 1 shares its core with who makes the large ones, rank 3 with
 * who makes the small ones.
 *
 *     row_turns [--bytes BYTES] [--reps N] */
#include "bench.h"

/* Rank 0 begins when all others have. */
static void tell_ready(void) {
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static double longest_gap(MPI_Request* end) {
  double longest = 0, last = MPI_Wtime();
  int flag = 0;
  tell_ready();
  while (!flag) {
    MPI_Test(end, &flag, MPI_STATUS_IGNORE);
    const double now = MPI_Wtime();
    if (now - last > longest) longest = now - last;
    last = now;
  }
  return longest;
}

int main(int argc, char** argv) {
  int rank, size, flag = 0, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long bytes = option_number(argc, argv, "--bytes", 256L << 20),
             reps = option_number(argc, argv, "--reps", 3);
  if (size < 3) {
    if (rank == 0) fprintf(stderr, "row_turns needs three ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int target = size - 2;
  double* memory;
  MPI_Win window;
  MPI_Request end;
  MPI_Win_allocate(rank == target ? bytes : 0, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  if (rank == target) memset(memory, 0, (size_t)bytes);
  double* const data = bench_memory(rank == 0 ? (size_t)bytes : sizeof(double));
  MPI_Win_lock_all(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  double result = 0;
  if (rank == 0) {
    for (int other = 1; other < size; other++)
      MPI_Recv(NULL, 0, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double start = MPI_Wtime();
    for (long i = 0; i < reps; i++) {
      MPI_Accumulate(data, (int)(bytes / 8), MPI_DOUBLE, target, 0, (int)(bytes / 8), MPI_DOUBLE, MPI_SUM,
                     window);
      MPI_Win_flush(target, window);
    }
    result = (MPI_Wtime() - start) / (double)reps;
    for (int other = 1; other < size; other++) MPI_Send(&token, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &end);
    if (rank == target) {
      const double two[2] = {1, 1};
      tell_ready();
      while (!flag) {
        MPI_Accumulate(two, 2, MPI_DOUBLE, target, 0, 2, MPI_DOUBLE, MPI_SUM, window);
        MPI_Test(&end, &flag, MPI_STATUS_IGNORE);
      }
    } else {
      result = longest_gap(&end);
    }
  }
  MPI_Win_unlock_all(window);
  double* const all = bench_memory((size_t)size * sizeof(double));
  MPI_Gather(&result, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("# who ms\nlarge_accumulate %.3f\n", 1e3 * all[0]);
    for (int other = 1; other < size; other++)
      if (other != target) printf("longest_gap_of_rank_%d %.3f\n", other, 1e3 * all[other]);
  }
  free(all), free(data);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
