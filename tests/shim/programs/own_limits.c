/* Resource limits that a rank sets are its own and its children's. "own_limits": each says "rank R: good". With "bound":
 * the one rank of a node process is bound by what it has set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ulimit.h>
#include <unistd.h>

static int rank, size;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

static rlim_t soft(int resource) {
  struct rlimit limit;
  CHECK(getrlimit(resource, &limit) == 0);
  return limit.rlim_cur;
}

static void lower(int resource, rlim_t value) {
  struct rlimit limit;
  CHECK(getrlimit(resource, &limit) == 0);
  limit.rlim_cur = value;
  CHECK(setrlimit(resource, &limit) == 0 && soft(resource) == value);
}

static long in_shell(const char* command) {
  FILE* shell = popen(command, "r");
  long found = -1;
  CHECK(shell != NULL && fscanf(shell, "%ld", &found) == 1 && pclose(shell) == 0);
  return found;
}

static const int kLowered[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_CORE, RLIMIT_STACK};
enum { kCount = sizeof kLowered / sizeof *kLowered };

/* The last rank lowers all that it can; nobody else sees it, nor is bound by it. */
static void one_lowers(void) {
  rlim_t before[kCount];
  for (int i = 0; i < kCount; ++i) before[i] = soft(kLowered[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    for (int i = 0; i < kCount; ++i) lower(kLowered[i], 4096 + (rlim_t)i);
    CHECK(sysconf(_SC_OPEN_MAX) == 4096 && getdtablesize() == 4096);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < size - 1) {
    for (int i = 0; i < kCount; ++i) CHECK(soft(kLowered[i]) == before[i]);
    CHECK(sysconf(_SC_OPEN_MAX) == (long)before[0]);
    char name[] = "/tmp/tmpi-own-limits.XXXXXX", *large = calloc(1, 1 << 24);
    const int file = mkstemp(name);
    CHECK(large != NULL && file >= 0 && write(file, large, 1 << 16) == 1 << 16);
    CHECK(close(file) == 0 && unlink(name) == 0);
    free(large);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    for (int i = 0; i < kCount; ++i) lower(kLowered[i], before[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each another one, by all the names that there are. */
static void each_its_own(void) {
  const rlim_t own = 500 + (rlim_t)rank;
  lower(RLIMIT_NOFILE, own);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(soft(RLIMIT_NOFILE) == own);
  struct rlimit limit, before;
  CHECK(prlimit(0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur == own);
  CHECK(prlimit(getpid(), RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur == own);
  CHECK(syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == own);
  limit.rlim_cur = own + 1;
  CHECK(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, &before) == 0 && before.rlim_cur == own);
  CHECK(soft(RLIMIT_NOFILE) == own + 1);
  limit.rlim_cur = own;
  CHECK(syscall(SYS_setrlimit, RLIMIT_NOFILE, &limit) == 0 && soft(RLIMIT_NOFILE) == own);
  limit.rlim_cur = limit.rlim_max + 1;
  CHECK(limit.rlim_max == RLIM_INFINITY || (setrlimit(RLIMIT_NOFILE, &limit) == -1 && errno == EINVAL));
  CHECK(setrlimit(99, &limit) == -1 && errno == EINVAL && getrlimit(99, &limit) == -1 && errno == EINVAL);
  lower(RLIMIT_CORE, (rlim_t)rank * 512);
  lower(RLIMIT_FSIZE, (1 << 24) + (rlim_t)rank * 512);
  CHECK(ulimit(UL_GETFSIZE) == (1 << 15) + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(soft(RLIMIT_CORE) == (rlim_t)rank * 512);

  int other = getpid();
  MPI_Sendrecv_replace(&other, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK(prlimit(other, RLIMIT_CORE, NULL, &limit) == 0);
  CHECK(limit.rlim_cur == (rlim_t)((rank + size - 1) % size) * 512);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void children(void) {
  const long own = 500 + rank;
  CHECK(in_shell("sleep 0.2; ulimit -n") == own);
  int status;
  const pid_t child = fork();
  if (child == 0) {
    if (soft(RLIMIT_NOFILE) != (rlim_t)own) _exit(1);
    lower(RLIMIT_NOFILE, 50);
    const int last = open("/dev/null", O_RDONLY);
    _exit(last >= 0 && dup2(last, 51) == -1 ? 7 : 2);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  char command[64];
  snprintf(command, sizeof command, "test $(ulimit -n) = %ld", own);
  for (int kind = 0; kind < 2; ++kind) {
    const pid_t shell = kind == 0 ? fork() : vfork();
    if (shell == 0) {
      execlp("sh", "sh", "-c", command, (char*)NULL);
      _exit(99);
    }
    CHECK(waitpid(shell, &status, 0) == shell && status == 0);
  }
  CHECK(soft(RLIMIT_NOFILE) == (rlim_t)own);
}

static volatile sig_atomic_t too_large;
static void note(int signal) {
  too_large += signal == SIGXFSZ;
}

/* All ranks of the node process, one here, have set it: then it binds. */
static void bound(void) {
  char name[] = "/tmp/tmpi-own-limits.XXXXXX", data[8192] = "";
  const int file = mkstemp(name);
  signal(SIGXFSZ, note);
  const rlim_t before = soft(RLIMIT_FSIZE), memory = soft(RLIMIT_AS);
  lower(RLIMIT_FSIZE, 4096);
  CHECK(write(file, data, sizeof data) == 4096);
  CHECK(write(file, data, 1) == -1 && errno == EFBIG && too_large == 1);
  lower(RLIMIT_FSIZE, before);
  CHECK(write(file, data, 1) == 1 && close(file) == 0 && unlink(name) == 0);
  lower(RLIMIT_AS, 1 << 20);
  void* volatile there = malloc(1 << 28); /* gcc 16 takes an unused one for granted */
  CHECK(there == NULL);
  lower(RLIMIT_AS, memory);
  there = malloc(1 << 28);
  CHECK(there != NULL);
  free(there);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) {
    bound();
  } else {
    one_lowers();
    each_its_own();
    children();
  }
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
