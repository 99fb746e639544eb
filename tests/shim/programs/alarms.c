/* Signals and timers of a rank are its own. Each rank runs the part that is named and says "rank R: good". */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static volatile sig_atomic_t caught, value;
static volatile int caught_rank = -1;
static sigjmp_buf timeout;

#define CHECK(condition)                                                                            \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      printf("rank %d, line %d: not %s (errno %d, caught %d)\n", rank, __LINE__, #condition, errno, \
             (int)caught);                                                                          \
      fflush(stdout);                                                                               \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                                 \
    }                                                                                               \
  } while (0)

static void on_signal(int number) {
  (void)number;
  ++caught;
  caught_rank = rank;
}
static void on_info(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  ++caught;
  value = info->si_value.sival_int;
}
static void on_timeout(int number) {
  (void)number;
  siglongjmp(timeout, 1);
}
static void in_thread(union sigval given) {
  value = given.sival_int;
  ++caught;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(number, &action, NULL) == 0);
}

static void once(void) {
  CHECK(caught == 1 && caught_rank == rank);
}

static void set(int which, long microseconds, long interval) {
  const struct itimerval wanted = {{interval / 1000000, interval % 1000000},
                                   {microseconds / 1000000, microseconds % 1000000}};
  CHECK(setitimer(which, &wanted, NULL) == 0);
}

/* A handler of each rank, and what it is that the alarm interrupts. */
static void spin(void) {
  handle(SIGALRM, on_signal, 0);
  set(ITIMER_REAL, 200000, 0);
  while (caught == 0) {
  }
  once();
}
static void sleeping(void) {
  handle(SIGALRM, on_signal, SA_RESTART);
  alarm(1);
  errno = 0;
  const double began = now();
  const unsigned left = sleep(100);
  CHECK(left >= 90 && left < 100);
  CHECK(now() - began > 0.9);
  once();
  set(ITIMER_REAL, 100000 + 50000 * rank, 0);
  const struct timespec request = {100, 0};
  struct timespec rest;
  CHECK(nanosleep(&request, &rest) == -1 && errno == EINTR && rest.tv_sec >= 90);
  CHECK(caught == 2 && caught_rank == rank);
}
static void paused(void) {
  handle(SIGALRM, on_signal, 0);
  set(ITIMER_REAL, 100000 + 20000 * rank, 0);
  CHECK(pause() == -1 && errno == EINTR);
  once();
}
static void jump(void) {
  handle(SIGALRM, on_timeout, 0);
  for (volatile int i = 0; i < 3; ++i) {
    if (sigsetjmp(timeout, 1) == 0) {
      set(ITIMER_REAL, 50000, 0);
      sleep(100);
      CHECK(!"slept");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
/* Blocked in MPI: the handler runs all the same, and the receive goes on. */
static void receiving(void) {
  handle(SIGALRM, on_signal, 0);
  set(ITIMER_REAL, 100000, 0);
  int token = 0;
  if (rank == size - 1) {
    while (caught == 0) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &token, MPI_STATUS_IGNORE);
    const struct timespec while_others_wait = {0, 200000000};
    nanosleep(&while_others_wait, NULL);
    for (int other = 0; other < size - 1; ++other) MPI_Send(&other, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(token == rank);
  }
  once();
}
static void intervals(void) {
  handle(SIGALRM, on_signal, SA_RESTART);
  set(ITIMER_REAL, 20000, 20000);
  struct itimerval left;
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_interval.tv_usec == 20000);
  int done = 0;
  while (!done) {
    const int enough = caught >= 5;
    MPI_Allreduce(&enough, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  struct itimerval old;
  const struct itimerval stop = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &stop, &old) == 0 && old.it_interval.tv_usec == 20000);
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
  CHECK(alarm(100) == 0);
  const unsigned seconds = alarm(0);
  CHECK(seconds == 99 || seconds == 100);
  CHECK(alarm(0) == 0);
}
static void processor_time(void) {
  handle(SIGVTALRM, on_signal, SA_RESTART);
  handle(SIGPROF, on_signal, SA_RESTART);
  set(ITIMER_VIRTUAL, 20000, 0);
  while (caught < 1) {
  }
  set(ITIMER_PROF, 20000, 0);
  while (caught < 2) {
  }
}
static void timers(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_info;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN + 1;
  event.sigev_value.sival_int = 1000 + rank;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec brief = {{0, 0}, {0, 50000000}};
  CHECK(timer_settime(timer, 0, &brief, NULL) == 0);
  while (caught == 0) usleep(10000);
  CHECK(value == 1000 + rank);
  CHECK(timer_delete(timer) == 0);
  CHECK(timer_delete(timer) == -1 && errno == EINVAL);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = in_thread;
  event.sigev_value.sival_int = 2000 + rank;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  CHECK(timer_settime(timer, 0, &brief, NULL) == 0);
  while (caught == 1) usleep(10000);
  CHECK(value == 2000 + rank);
  CHECK(timer_delete(timer) == 0);
}
/* What the kernel knows: that of all ranks of a node. */
static pid_t node_process(void) {
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atoi(number) : -1;
}
/* What reaches the process reaches every rank; what a rank sends to itself reaches no other. */
static void outside(void) {
  handle(SIGUSR1, on_signal, SA_RESTART);
  handle(SIGUSR2, on_signal, SA_RESTART);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const pid_t process = node_process(), child = fork();
    if (child == 0) {
      kill(process, SIGUSR1);
      _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
  }
  for (int found = 0; caught == 0;) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (rank % 2 == 1) usleep(1000);
  }
  once();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(caught == 1);
  for (int i = 0; i < rank; ++i) CHECK((i % 2 == 0 ? raise(SIGUSR2) : kill(getpid(), SIGUSR2)) == 0);
  CHECK(caught == 1 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(caught == 1 + rank);
}
static void dispositions(void) {
  struct sigaction before;
  CHECK(signal(SIGUSR1, rank % 2 == 0 ? on_signal : SIG_IGN) == SIG_DFL);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == (rank % 2 == 0 ? on_signal : SIG_IGN));
  CHECK(raise(SIGUSR1) == 0);
  CHECK(caught == (rank % 2 == 0));
  struct sigaction once_only;
  memset(&once_only, 0, sizeof once_only);
  once_only.sa_handler = on_signal;
  once_only.sa_flags = (int)SA_RESETHAND;
  CHECK(sigaction(SIGUSR2, &once_only, NULL) == 0);
  CHECK(raise(SIGUSR2) == 0);
  CHECK(sigaction(SIGUSR2, NULL, &before) == 0 && before.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGKILL, &once_only, NULL) == -1 && errno == EINVAL);
  CHECK(sigaction(77, &once_only, NULL) == -1 && errno == EINVAL);
  /* A child has what the rank had. */
  if (rank == 0) {
    const pid_t child = fork();
    if (child == 0) {
      caught = 0;
      raise(SIGUSR1);
      alarm(1);
      _exit(caught == 1 && signal(SIGUSR1, SIG_DFL) == on_signal ? 5 : 6);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
  }
}
/* A system call that waits is interrupted, unless the rank does not want it. */
static void reading(void) {
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  handle(SIGALRM, on_signal, 0);
  set(ITIMER_REAL, 100000, 0);
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  once();
}
/* A signal of a timer that is no more is nobody's. */
static void stale(void) {
  handle(SIGUSR1, on_signal, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = (void*)0x746dfff700000000; /* as the shim names its timers */
  CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, &info) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(caught == 0);
}
/* One for the process that comes while one for the thread is pending there. A core each. */
static void pending(void) {
  int ends[2];
  sigset_t user;
  char byte = 0;
  sigemptyset(&user);
  sigaddset(&user, SIGUSR1);
  handle(SIGUSR1, on_signal, SA_RESTART);
  CHECK(pipe(ends) == 0);
  MPI_Bcast(ends, 2, MPI_INT, 1, MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(pthread_sigmask(SIG_BLOCK, &user, NULL) == 0 && pthread_kill(pthread_self(), SIGUSR1) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(read(ends[0], &byte, 1) == 1 && caught == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &user, NULL) == 0);
    CHECK(caught == 2);
  } else if (rank == 1) {
    const pid_t process = node_process(), child = fork();
    if (child == 0) {
      kill(process, SIGUSR1);
      _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    while (caught == 0) continue;
    usleep(10000);
    CHECK(write(ends[1], &byte, 1) == 1);
  }
}
/* The job has been started with SIGVTALRM ignored; one rank handles it, the others' timers do no harm. */
static void ignored(void) {
  struct sigaction before;
  if (rank == 0) handle(SIGVTALRM, on_signal, 0);
  CHECK(rank == 0 || (sigaction(SIGVTALRM, NULL, &before) == 0 && before.sa_handler == SIG_IGN));
  MPI_Barrier(MPI_COMM_WORLD);
  set(ITIMER_VIRTUAL, 10000 + 1000 * rank, 0);
  const double began = now();
  while (now() - began < 0.5) continue;
  CHECK(caught == (rank == 0));
}
static void nobody(void) {
  if (rank == 1) alarm(1);
  for (;;) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"spin", spin},
               {"sleep", sleeping},
               {"pause", paused},
               {"jump", jump},
               {"receive", receiving},
               {"intervals", intervals},
               {"processor_time", processor_time},
               {"timers", timers},
               {"outside", outside},
               {"dispositions", dispositions},
               {"read", reading},
               {"stale", stale},
               {"pending", pending},
               {"ignored", ignored},
               {"nobody", nobody}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (strcmp(argv[1], parts[i].name) == 0) parts[i].run();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
