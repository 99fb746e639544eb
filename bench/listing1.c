/* Listing 1 of Nigay et al. (EuroMPI'20): a clock around a section that contains a scheduling point.
 *
 * Every rank takes the time, sleeps (which is no scheduling point: the rank keeps its core), enters a barrier
 * (which is one), and takes the time again. Prints what each rank measured and the time from the first rank's
 * start to the last one's end.
 *
 *   mpirun -n 2 ./listing1 [--sleep SECONDS] [--timer wtime|rtime]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__has_include)
#if __has_include(<mpix.h>)
#include <mpix.h> /* tmpi's extensions */
#endif
#endif

static double wtime(void) {
  return MPI_Wtime();
}

/* A clock that all processes of a machine share, which MPI_Wtime need not be. */
static double machine_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_for(double seconds) {
  struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  while (nanosleep(&left, &left) != 0) {
  }
}

int main(int argc, char** argv) {
  double seconds = 1, (*clock_now)(void) = wtime;
  const char* timer = "wtime";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--sleep") == 0) seconds = atof(argv[i + 1]);
    if (strcmp(argv[i], "--timer") == 0) timer = argv[i + 1];
  }
  if (strcmp(timer, "rtime") == 0) {
#ifdef MPIX_HAVE_RTIME
    clock_now = MPIX_Rtime;
#else
    fprintf(stderr, "listing1: this MPI has no MPIX_Rtime\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
#endif
  }

  double first = machine_time();
  double start = clock_now();
  sleep_for(seconds);
  MPI_Barrier(MPI_COMM_WORLD);
  double elapsed = clock_now() - start;
  double last = machine_time(), begin = 0, end = 0;

  double* all = malloc((size_t)size * sizeof *all);
  MPI_Gather(&elapsed, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Reduce(&first, &begin, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&last, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("listing1 %s total %.6f elapsed", timer, end - begin);
    for (int i = 0; i < size; i++) printf(" %.6f", all[i]);
    printf("\n");
  }
  free(all);
  MPI_Finalize();
  return 0;
}
