/* Handlers of pthread_atfork: those of the rank that forks, of it alone, in their order. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char calls[32];

static void note(char what) {
  calls[strlen(calls)] = what;
}
static void first_before(void) {
  note('1');
}
static void second_before(void) {
  note('2');
}
static void first_parent(void) {
  note('p');
}
static void second_parent(void) {
  note('P');
}
static void first_child(void) {
  note('c');
}
static void second_child(void) {
  note('C');
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int odd = rank % 2;
  if (odd) {
    pthread_atfork(&first_before, &first_parent, &first_child);
    pthread_atfork(&second_before, &second_parent, &second_child);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) _exit(strcmp(calls, odd ? "21cC" : "") != 0);
  int status = 1;
  waitpid(child, &status, 0);
  const int good = status == 0 && strcmp(calls, odd ? "21pP" : "") == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: %s\n", rank, good ? "good" : calls);
  MPI_Finalize();
  return !good;
}
