/* polls MODE [SECONDS]: ranks test and probe for messages that never come, or (modes with SECONDS) that come after so long: for as long as the
 * other ranks, or their own loop, have something else to do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarmed;
static volatile double work;

static void on_alarm(int number) {
  alarmed = number;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void spin(int steps) {
  for (volatile int i = 0; i < steps; ++i) continue;
}

/* Some processors take 300 ns for a thousand of them, or 1300 for the same thousand elsewhere. */
static int steps_in(double seconds) {
  for (int steps = 1000;; steps *= 2) {
    const double before = now();
    spin(steps);
    if (now() - before >= seconds) return steps;
  }
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const int seconds = argc > 2 ? atoi(argv[2]) : 0;
  int rank, size, flag = 0, got = 0, data = 7;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  if (strcmp(mode, "test") == 0) {
    MPI_Irecv(&got, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "probe-and-wait") == 0) {
    if (rank == 0) MPI_Recv(&got, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  /* From here on the message does come. */
  MPI_Irecv(&got, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &request);
  const double end = now() + seconds;
  if (strcmp(mode, "wtime") == 0) {
    const double limit = MPI_Wtime() + seconds;
    while (!flag && MPI_Wtime() < limit) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "clock") == 0) {
    while (!flag && now() < end) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "work") == 0) { /* one rank is at work, the others poll */
    while (rank == 0 && now() < end) work += 1;
  }
  if (strcmp(mode, "work-between") == 0) { /* microseconds each, and every millisecond a look for the file */
    struct stat about;
    const int steps = steps_in(5e-6);
    for (int round = 1; !flag && (round % 200 != 0 || stat(argv[3], &about) != 0); ++round) {
      spin(steps);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  }
  if (strcmp(mode, "file") == 0) { /* until somebody makes it: a system call between polls */
    struct stat about;
    while (!flag && stat(argv[3], &about) != 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "memory") == 0) { /* until somebody else writes to it */
    const int file = open(argv[3], O_RDWR);
    const volatile char* memory = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
    while (!flag && *memory == 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "cycles") == 0) {
    const double began = now();
    const unsigned long long first = __builtin_ia32_rdtsc();
    while (now() - began < 0.1) continue;
    const unsigned long long last = first + (__builtin_ia32_rdtsc() - first) * 10 * (unsigned)seconds;
    while (!flag && __builtin_ia32_rdtsc() < last) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "asleep") == 0 && rank == 0) sleep((unsigned)seconds);
  if (strcmp(mode, "alarm") == 0) {
    signal(SIGALRM, on_alarm);
    if (rank == 0) alarm((unsigned)seconds);
    while (!flag && !alarmed) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Send(&data, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("fine\n");
  MPI_Finalize();
  return got != data;
}
