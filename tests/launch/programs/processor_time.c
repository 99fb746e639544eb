/* processor_time: odd ranks compute for 0.2 s of their own time, even ones do not; each then computes in a thread. What
 * the clocks of processor time say must be the rank's own. Prints what is wrong, and "done". */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static int rank;

#define CHECK(what, seconds)                                                                         \
  do {                                                                                               \
    if (!(what))                                                                                     \
      printf("rank %d, line %d: %s is wrong: %g\n", rank, __LINE__, #what, seconds), fflush(stdout); \
  } while (0)

static double by_clock(clockid_t which) {
  struct timespec time;
  clock_gettime(which, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static double seconds(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}
static double by_usage(int whose) {
  struct rusage usage;
  getrusage(whose, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}
static double by_times(void) {
  struct tms times_now;
  times(&times_now);
  return (double)(times_now.tms_utime + times_now.tms_stime) / (double)sysconf(_SC_CLK_TCK);
}
static double of_node_process(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(double time) {
  const double end = by_clock(CLOCK_THREAD_CPUTIME_ID) + time;
  while (by_clock(CLOCK_THREAD_CPUTIME_ID) < end)
    for (volatile int i = 0; i < 10000; ++i) {
    }
}

static void* compute_in_thread(void* nothing) {
  compute(0.1);
  return nothing;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const clock_t begin = clock();
  const double thread_begin = by_usage(RUSAGE_THREAD), usage_begin = by_usage(RUSAGE_SELF),
               times_begin = by_times();
  const int computes = rank % 2;
  if (computes) compute(0.2);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const double own = (double)(clock() - begin) / CLOCKS_PER_SEC;
  const double thread = by_usage(RUSAGE_THREAD) - thread_begin, usage = by_usage(RUSAGE_SELF) - usage_begin,
               ticks = by_times() - times_begin;
  const double least = computes ? 0.19 : 0, most = computes ? 0.3 : 0.1;
  CHECK(own >= least && own <= most, own);
  CHECK(thread >= least && thread <= most, thread);
  CHECK(usage >= least && usage <= most, usage);
  CHECK(ticks >= least - 0.02 && ticks <= most + 0.02, ticks);
  double sum, mine = by_clock(CLOCK_PROCESS_CPUTIME_ID);
  CHECK(mine >= own, mine);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t helper;
  pthread_create(&helper, 0, compute_in_thread, 0);
  pthread_join(helper, 0);
  const double all = by_clock(CLOCK_PROCESS_CPUTIME_ID) - mine;
  CHECK(all >= 0.09 && all < 0.2, all);
  const double main_flow = by_usage(RUSAGE_THREAD) - thread_begin;
  CHECK(main_flow < thread + 0.05, main_flow);
  mine += all;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, node);
  const double whole = of_node_process();
  if (argc > 1) CHECK(sum <= whole, sum - whole); /* with one node process */
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
