/* Handles SIGTERM, SIGUSR1 and SIGCONT itself: a computation that saves its state when the batch system wants it to
 * end. What comes from outside reaches every rank, at one moment or another, so they agree. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stop = 0;
static volatile sig_atomic_t asked = 0;
static volatile sig_atomic_t continued = 0;

static void on_term(int signal) {
  (void)signal;
  stop = 1;
}
static void on_usr1(int signal) {
  (void)signal;
  asked = 1;
}
static void on_cont(int signal) {
  (void)signal;
  continued = 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGTERM, on_term);
  if (argc == 1 || rank == 0) signal(SIGUSR1, on_usr1); /* handles_term one */
  signal(SIGCONT, on_cont);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  int told = 0;
  while (!all) {
    int mine = stop;
    if (asked && !told) {
      printf("asked\n");
      fflush(stdout);
      told = 1;
    }
    if (continued) {
      printf("goes on\n");
      fflush(stdout);
      continued = 0;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("state saved\n");
  MPI_Finalize();
  return 0;
}
