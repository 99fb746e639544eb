/* A rank has a process id of its own, which whatever takes one understands. Each rank says "rank R: good". */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static pid_t* ids;
static volatile sig_atomic_t caught, sender, value;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  sender = info->si_pid;
  value = info->si_value.sival_int;
  ++caught;
}

static void wait_for(int signals) {
  for (int i = 0; i < 2000 && caught < signals; ++i) {
    int flag;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status); /* a scheduling point */
    usleep(1000);
  }
  CHECK(caught == signals);
}

static void numbers(void) {
  long most = 0;
  FILE* file = fopen("/proc/sys/kernel/pid_max", "r");
  CHECK(file != NULL && fscanf(file, "%ld", &most) == 1);
  fclose(file);
  CHECK(ids[rank] > most);
  for (int i = 0; i < size; ++i) CHECK(i == rank || ids[i] != ids[rank]);
  CHECK(gettid() == getpid());
  CHECK(syscall(SYS_getpid) == getpid() && syscall(SYS_gettid) == getpid());
  CHECK(getppid() > 0 && getppid() < most);

  char name[64];
  snprintf(name, sizeof name, "/tmp/tmpi-process-ids.%d", (int)getpid());
  const int made = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
  CHECK(made >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(close(made) == 0 && unlink(name) == 0);
}

static void* other_thread(void* unused) {
  (void)unused;
  CHECK(getpid() == ids[rank]);
  CHECK(gettid() != getpid());
  return NULL;
}

static void threads(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void calls(void) {
  CHECK(getpgid(getpid()) == getpgrp());
  CHECK(getsid(getpid()) == getsid(0));
  CHECK(getpriority(PRIO_PROCESS, (id_t)getpid()) == getpriority(PRIO_PROCESS, 0));
  cpu_set_t here, same;
  CHECK(sched_getaffinity(getpid(), sizeof here, &here) == 0);
  CHECK(sched_getaffinity(0, sizeof same, &same) == 0 && CPU_EQUAL(&here, &same));
  CHECK(sched_getscheduler(getpid()) == SCHED_OTHER);
  struct rlimit limit;
  CHECK(prlimit(getpid(), RLIMIT_NOFILE, NULL, &limit) == 0);
  const int fd = pidfd_open(getpid(), 0);
  CHECK(fd >= 0 && close(fd) == 0);
  int from = rank + 1, to = 0;
  const struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
  CHECK(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to && to == from);
  const int file = open("/dev/null", O_RDONLY);
  CHECK(fcntl(file, F_SETOWN, getpid()) == 0 && fcntl(file, F_GETOWN) == getpid());
  CHECK(close(file) == 0);
}

static void names(void) {
  char name[64], own[4096] = "", self[4096] = "";
  struct stat by_id, by_self;
  snprintf(name, sizeof name, "/proc/%d/exe", (int)getpid());
  CHECK(readlink(name, own, sizeof own - 1) > 0 && readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  CHECK(strcmp(own, self) == 0 && strstr(own, "process_ids") != NULL);
  snprintf(name, sizeof name, "/proc/%d", (int)getpid());
  CHECK(stat(name, &by_id) == 0 && stat("/proc/self/", &by_self) == 0 && by_id.st_ino == by_self.st_ino);
  snprintf(name, sizeof name, "/proc/%d/task/%d/comm", (int)getpid(), (int)gettid());
  CHECK(access(name, R_OK) == 0);
  snprintf(name, sizeof name, "/proc/%d/status", (int)getpid());
  FILE* file = fopen(name, "r");
  CHECK(file != NULL && fclose(file) == 0);
  snprintf(name, sizeof name, "/proc/%d/fd", (int)getpid());
  DIR* folder = opendir(name);
  CHECK(folder != NULL && closedir(folder) == 0);
}

static void children(void) {
  const pid_t child = fork();
  if (child == 0) {
    if (getppid() != ids[rank] || getpid() == ids[rank] || getpid() >= 1 << 22 || gettid() != getpid())
      _exit(1);
    if (kill(getppid(), SIGUSR1) != 0) _exit(2);
    _exit(21);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 21);
  wait_for(1);
  CHECK(sender == child);
}

static void signals(void) {
  caught = 0;
  CHECK(kill(getpid(), SIGUSR1) == 0 && caught == 1);
  CHECK(kill(getpid(), 0) == 0);
  const union sigval given = {.sival_int = 17};
  CHECK(sigqueue(getpid(), SIGUSR1, given) == 0 && caught == 2 && value == 17 && sender == getpid());
  CHECK(tgkill(getpid(), gettid(), SIGUSR1) == 0 && caught == 3);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  if (size > 1) {
    /* One after the other: signals of one number that wait in a process are one. */
    for (int turn = 0; turn < size; ++turn) {
      if (turn == rank) CHECK(kill(ids[next], SIGUSR1) == 0);
      if (turn == previous) wait_for(4);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(caught == 4 && sender == ids[previous]);
  }
  CHECK(kill(0x7fffffff, SIGUSR1) == -1 && errno == ESRCH);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ids = malloc(sizeof(pid_t) * (size_t)size);
  const pid_t id = getpid();
  MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, MPI_COMM_WORLD);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) { /* --pid node */
    CHECK(ids[0] == id && gettid() != 0 && id < 1 << 22);
    CHECK(kill(getpid(), SIGUSR1) == 0 && caught == 1);
  } else {
    numbers();
    threads();
    calls();
    names();
    children();
    signals();
  }
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
