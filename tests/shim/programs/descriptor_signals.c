/* SIGIO and what F_SETSIG names go to the rank that F_SETOWN names. Each rank says "rank R: good". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int rank, size;
static volatile sig_atomic_t came, last_fd;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

static void note(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  last_fd = info->si_fd;
  ++came;
}

static void make_ready(int fd) {
  CHECK(write(fd, "x", 1) == 1);
}

/* One rank after the other makes its own descriptor ready. The calling one hears of that of `hears_of`, of no other. */
static void take_turns(const int* ends, int hears_of) {
  for (int turn = 0; turn < size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    came = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == rank) make_ready(ends[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2000 && hears_of == turn && came == 0; ++i) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(came == (hears_of == turn));
  }
}

static void use_pair(int signal, int ends[2]) {
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  if (signal != 0) CHECK(fcntl(ends[0], F_SETSIG, signal) == 0);
  CHECK(fcntl(ends[0], F_SETFL, O_ASYNC) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
  int ends[2];
  CHECK(sigaction(SIGIO, &action, NULL) == 0 && sigaction(SIGRTMIN + 2, &action, NULL) == 0);

  use_pair(0, ends);
  CHECK(fcntl(ends[0], F_GETOWN) == 0 && fcntl(ends[0], F_GETSIG) == 0);
  CHECK(fcntl(ends[0], F_SETOWN, getpid()) == 0 && fcntl(ends[0], F_GETOWN) == getpid());
  CHECK(fcntl(ends[0], F_GETSIG) == 0);
  take_turns(ends, rank);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);

  use_pair(SIGRTMIN + 2, ends);
  struct f_owner_ex owner = {F_OWNER_TID, gettid()}, found = {0, 0};
  CHECK(fcntl(ends[0], F_SETOWN_EX, &owner) == 0 && fcntl(ends[0], F_GETOWN_EX, &found) == 0);
  CHECK(found.type == owner.type && found.pid == owner.pid && fcntl(ends[0], F_GETSIG) == SIGRTMIN + 2);
  take_turns(ends, rank);
  CHECK(last_fd == ends[0]);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);

  /* The next rank hears of it. */
  int next = getpid();
  MPI_Sendrecv_replace(&next, 1, MPI_INT, (rank + size - 1) % size, 0, (rank + 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  use_pair(0, ends);
  int told = 0;
  CHECK(ioctl(ends[0], FIOSETOWN, &next) == 0 && ioctl(ends[0], FIOGETOWN, &told) == 0 && told == next);
  CHECK(fcntl(ends[0], F_GETOWN) == next);
  take_turns(ends, (rank + size - 1) % size);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);

  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
