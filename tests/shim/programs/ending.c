/* How a rank ends: ending HOW [RANK] lets rank RANK (default 0) end in a special way. */
#include <assert.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void last(void) {
  printf("last of %d", rank);
} /* no newline: must come out all the same */
static void first(void) {
  printf("first of %d\n", rank);
}
static void on_fault(int number) {
  printf("rank %d caught %d\n", rank, number);
  exit(0);
}
__attribute__((destructor)) static void destructor(void) {
  printf(" destructor of %d", rank);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  atexit(last);
  atexit(first);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  const int chosen = argc > 2 ? atoi(argv[2]) : 0;
  if (rank != chosen) return 0;
  const char* how = argv[1];
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "assert") == 0) {
#undef NDEBUG
#include <assert.h>
    assert(rank != chosen);
  }
  if (strcmp(how, "exec") == 0) execlp("true", "true", (char*)NULL);
  if (strcmp(how, "fault") == 0) {
    signal(SIGSEGV, on_fault);
    *(volatile int*)8 = 1;
  }
  return 0;
}
