/* Each rank sleeps for MILLISECONDS by the function FUNCTION and says when: "RANK began ended". Afterwards all meet. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int rest(const char* function, long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  struct timespec left = {7, 7};
  struct timeval brief = {milliseconds / 1000, milliseconds % 1000 * 1000};
  struct pollfd nobody[2] = {{-1, POLLIN, 5}, {-2, POLLOUT, 5}};
  fd_set none;
  FD_ZERO(&none);
  if (strcmp(function, "sleep") == 0) return (int)sleep((unsigned)(milliseconds / 1000));
  if (strcmp(function, "usleep") == 0) return usleep((useconds_t)(milliseconds * 1000));
  if (strcmp(function, "nanosleep") == 0) return nanosleep(&time, &left);
  if (strcmp(function, "thrd_sleep") == 0) return thrd_sleep(&time, NULL);
  if (strcmp(function, "clock_nanosleep") == 0) return clock_nanosleep(CLOCK_REALTIME, 0, &time, NULL);
  if (strcmp(function, "absolute") == 0) {
    const double end = now(CLOCK_REALTIME) + 1e-3 * (double)milliseconds;
    time.tv_sec = (time_t)end;
    time.tv_nsec = (long)(1e9 * (end - (double)time.tv_sec));
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
  }
  if (strcmp(function, "poll") == 0) return poll(NULL, 0, (int)milliseconds);
  if (strcmp(function, "poll_nobody") == 0)
    return poll(nobody, 2, (int)milliseconds) + nobody[0].revents + nobody[1].revents;
  if (strcmp(function, "ppoll") == 0) return ppoll(NULL, 0, &time, NULL);
  if (strcmp(function, "select") == 0) {
    const int ready = select(0, NULL, NULL, NULL, &brief);
    return ready + (int)brief.tv_sec + (int)brief.tv_usec;
  }
  if (strcmp(function, "select_none") == 0) return select(64, &none, &none, NULL, &brief);
  if (strcmp(function, "pselect") == 0) return pselect(0, NULL, NULL, NULL, &time, NULL);
  return -99;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long milliseconds = atol(argv[2]);
  errno = 77;
  const double began = now(CLOCK_MONOTONIC);
  const int result = rest(argv[1], milliseconds);
  const double ended = now(CLOCK_MONOTONIC);
  if (result != 0 || errno != 77 || ended - began < 1e-3 * (double)milliseconds - 1e-6) {
    printf("rank %d: %s returned %d after %f, errno %d\n", rank, argv[1], result, ended - began, errno);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  /* What no clock has: refused as ever. */
  const struct timespec never = {0, 1000000000};
  if (nanosleep(&never, NULL) != -1 || errno != EINVAL) MPI_Abort(MPI_COMM_WORLD, 2);
  printf("%d %.6f %.6f\n", rank, began, ended);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
