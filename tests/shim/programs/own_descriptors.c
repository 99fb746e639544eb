/* A rank cannot close what is another's or the runtime's. Each says "rank R: good". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
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

static void together(void) {
  int sum = 0;
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == size * (size - 1) / 2);
}

static int is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

static void closes(int kind) {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC), copy = dup(file),
            queue = epoll_create1(EPOLL_CLOEXEC);
  int ends[2];
  CHECK(file > 2 && copy > 2 && queue > 2 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  /* One after the other: what the others have stays open meanwhile. */
  for (int turn = 0; turn < size; ++turn) {
    together();
    if (turn != rank) {
      CHECK(rank < turn || (is_open(file) && is_open(ends[1]) && is_open(queue)));
      continue;
    }
    CHECK(write(copy, "x", 1) == 1);
    if (kind == 0) {
      for (int fd = 3; fd < 512; ++fd) close(fd);
    } else if (kind == 1) {
      closefrom(3);
    } else {
      CHECK(close_range(3, ~0U, 0) == 0);
    }
    CHECK(close(file) == -1 && errno == EBADF);
  }
  together();
}

static void onto(void) {
  const int file = open("/dev/null", O_WRONLY);
  CHECK(dup2(file, 700 + rank) == 700 + rank && close(700 + rank) == 0);
  CHECK(dup2(file, file) == file);
  int replaced = 0;
  for (int fd = 3; fd < 60; ++fd) {
    if (fd == file || !is_open(fd)) continue;
    CHECK(dup2(file, fd) == -1 && errno == EBADF);
    ++replaced;
  }
  CHECK(replaced > 0);
  together(); /* what others close meanwhile would be free */
  const int other = open("/dev/zero", O_RDONLY);
  CHECK(dup2(file, other) == other && close(other) == 0 && close(file) == 0);
  together();
}

/* A child ends when its rank has closed the pipe: no other rank's child has it. */
static void children(void) {
  int ends[2], status;
  char nothing;
  CHECK(pipe(ends) == 0);
  together();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read(ends[0], &nothing, 1) == 0 ? 9 : 1);
  }
  FILE* shell = popen("cat > /dev/null", "w");
  CHECK(shell != NULL);
  together();
  CHECK(pclose(shell) == 0); /* it has inherited the rank's own pipe */
  CHECK(close(ends[1]) == 0 && close(ends[0]) == 0);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
  together();
}

static void limits(long soft) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == limit.rlim_max);
  for (int kind = 0; kind < 2; ++kind) {
    long found = 0;
    int ends[2];
    FILE* shell;
    if (kind == 0) {
      shell = popen("sleep 0.1; ulimit -n", "r");
    } else {
      CHECK(pipe2(ends, O_CLOEXEC) == 0);
      if (fork() == 0) {
        dup2(ends[1], 1);
        execlp("sh", "sh", "-c", "ulimit -n", (char*)NULL);
        _exit(99);
      }
      close(ends[1]);
      shell = fdopen(ends[0], "r");
    }
    CHECK(shell != NULL && fscanf(shell, "%ld", &found) == 1 && found == soft);
    if (kind == 0) CHECK(pclose(shell) == 0);
    if (kind == 1) CHECK(fclose(shell) == 0 && wait(NULL) > 0);
  }
  together();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int kind = 0; kind < 3; ++kind) closes(kind);
  onto();
  children();
  if (argc > 1) limits(atol(argv[1]));
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
