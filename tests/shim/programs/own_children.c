/* A rank waits for its own children, hears of them alone, and they have its streams. Each says "rank R: good". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static volatile sig_atomic_t caught, sender;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

static void together(void) {
  CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void on_child(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  sender = info->si_pid;
  ++caught;
}

static pid_t start(int code) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(code);
  return child;
}

static void waits(void) {
  int status = 0;
  errno = 0;
  CHECK(wait(&status) == -1 && errno == ECHILD);
  together();
  const pid_t first = start(10 + rank), second = start(20 + rank);
  pid_t others[64];
  MPI_Allgather(&first, 1, MPI_INT, others, 1, MPI_INT, MPI_COMM_WORLD);
  if (size > 1) {
    const pid_t foreign = others[(rank + 1) % size];
    CHECK(waitpid(foreign, &status, WNOHANG) == -1 && errno == ECHILD);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)foreign, &info, WEXITED | WNOHANG) == -1 && errno == ECHILD);
  }
  int seen = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = i == 0 ? wait(&status) : waitpid(0, &status, 0);
    CHECK(child == first || child == second);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (child == first ? 10 : 20) + rank);
    seen += child == first ? 1 : 2;
  }
  CHECK(seen == 3);
  CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  together();

  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(1);
  }
  CHECK(waitpid(-1, &status, WNOHANG) == 0);
  CHECK(kill(child, SIGTERM) == 0);
  siginfo_t info;
  CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == child &&
        info.si_code == CLD_KILLED && info.si_status == SIGTERM);
  CHECK(waitpid(-getpgid(child), &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);

  const pid_t stopped = fork();
  if (stopped == 0) {
    raise(SIGSTOP);
    _exit(7);
  }
  CHECK(waitpid(-1, &status, WUNTRACED) == stopped && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  CHECK(kill(stopped, SIGCONT) == 0);
  CHECK(wait(&status) == stopped && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_child;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
  together();
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) {
      const pid_t child = start(0);
      CHECK(waitpid(child, NULL, 0) == child);
    }
    together();
  }
  for (int i = 0; i < 1000 && caught == 0; ++i) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  together();
  CHECK(caught == 1);

  /* Who does not want to hear of his children leaves the others theirs. */
  if (rank % 2 == 0) CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
  if (rank % 2 == 1) CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
  together();
  start(3);
  int status = 0;
  if (rank % 2 == 0) CHECK(wait(&status) == -1 && errno == ECHILD);
  if (rank % 2 == 1) CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 3);
  together();
  CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

static void pipes(void) {
  FILE* first = popen("cat > /dev/null", "w");
  FILE* second = popen("cat > /dev/null", "w");
  CHECK(first != NULL && second != NULL);
  together(); /* the other ranks' children must not have it either */
  CHECK(pclose(first) == 0);
  CHECK(pclose(second) == 0);
}

static void programs(void) {
  int ends[2], status = 0;
  char text[64] = "";
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execlp("sh", "sh", "-c", "echo from sh", (char*)NULL);
    _exit(99);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(read(ends[0], text, sizeof text - 1) == 8 && strcmp(text, "from sh\n") == 0);

  const pid_t borrowed = vfork();
  if (borrowed == 0) {
    dup2(ends[1], 1);
    execlp("sh", "sh", "-c", "echo by vfork; exit 4", (char*)NULL);
    _exit(99);
  }
  CHECK(wait(&status) == borrowed && WEXITSTATUS(status) == 4);
  memset(text, 0, sizeof text);
  CHECK(read(ends[0], text, sizeof text - 1) == 9 && strcmp(text, "by vfork\n") == 0);
  close(ends[0]);
  close(ends[1]);

  char* arguments[] = {"sh", "-c", "exit 5", NULL};
  pid_t spawned;
  CHECK(posix_spawnp(&spawned, "sh", NULL, NULL, arguments, NULL) == 0);
  CHECK(wait(&status) == spawned && WEXITSTATUS(status) == 5);
  CHECK(WEXITSTATUS(system("exit 6")) == 6);
  CHECK(wait(&status) == -1 && errno == ECHILD);

  /* What a rank has redirected its child has, too. */
  char name[] = "/tmp/tmpi-own-children-XXXXXX";
  const int file = mkstemp(name), kept = dup(1);
  CHECK(file >= 0 && kept >= 0 && dup2(file, 1) == 1);
  const pid_t writer = fork();
  if (writer == 0) {
    execlp("sh", "sh", "-c", "echo into the file", (char*)NULL);
    _exit(99);
  }
  const int ended = waitpid(writer, &status, 0) == writer && status == 0;
  CHECK(dup2(kept, 1) == 1 && close(kept) == 0);
  CHECK(ended);
  memset(text, 0, sizeof text);
  CHECK(pread(file, text, sizeof text - 1, 0) == 14 && strcmp(text, "into the file\n") == 0);
  CHECK(close(file) == 0 && unlink(name) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  waits();
  together();
  signals();
  together();
  pipes();
  together();
  programs();
  together();
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
