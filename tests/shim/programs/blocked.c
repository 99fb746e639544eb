/* Signals that a rank blocks: others of its worker get theirs, what is pending waits for the rank, and comes when it says. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, failures;
static volatile sig_atomic_t caught;
static sigjmp_buf back;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* Everybody else runs now. */
static void give_way(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void count(int signal) {
  (void)signal;
  ++caught;
}
static void leave(int signal) {
  siglongjmp(back, signal);
}

static int is_blocked(int signal) {
  sigset_t set;
  sigprocmask(SIG_BLOCK, NULL, &set);
  return sigismember(&set, signal);
}
static int is_pending(int signal) {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, signal);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int odd = rank % 2;
  sigset_t one, two, none;
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigemptyset(&two);
  sigaddset(&two, SIGUSR2);
  signal(SIGUSR1, &count);
  expect(!is_blocked(SIGUSR1), "begins with blocked signals");
  give_way();
  if (odd) sigprocmask(SIG_BLOCK, &one, NULL);
  for (int i = 0; i < 3; ++i) {
    give_way();
    expect(is_blocked(SIGUSR1) == odd, "another rank's mask");
    raise(SIGUSR1);
    expect(caught == (odd ? 0 : i + 1), "a blocked signal came, or another did not");
    expect(is_pending(SIGUSR1) == odd, "sigpending");
  }
  give_way();
  expect(is_pending(SIGUSR1) == odd, "what was pending is lost");
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  expect(caught == (odd ? 1 : 3), "an unblocked signal did not come");
  /* One whose action ends the job, were it to come to anybody. */
  sigprocmask(SIG_BLOCK, &two, NULL);
  give_way();
  if (odd) raise(SIGUSR2);
  give_way();
  if (odd) {
    int number = 0;
    expect(sigwait(&two, &number) == 0 && number == SIGUSR2, "sigwait");
  }
  expect(!is_pending(SIGUSR2), "pending for another rank");
  give_way();
  sigprocmask(SIG_UNBLOCK, &two, NULL);
  /* Waiting for one that is pending. */
  caught = 0;
  sigprocmask(SIG_BLOCK, &one, NULL);
  raise(SIGUSR1);
  give_way();
  expect(caught == 0 && sigsuspend(&none) == -1 && caught == 1, "sigsuspend");
  expect(is_blocked(SIGUSR1), "sigsuspend does not put the mask back");
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  give_way();
  /* siglongjmp puts back what the kernel has, past all functions of ours. */
  signal(SIGUSR1, &leave);
  if (sigsetjmp(back, 1) == 0) {
    sigprocmask(SIG_BLOCK, &two, NULL);
    raise(SIGUSR1);
    expect(0, "no handler");
  }
  give_way();
  expect(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2), "siglongjmp");
  printf("rank %d: %s\n", rank, failures == 0 ? "good" : "bad");
  MPI_Finalize();
  return failures != 0;
}
