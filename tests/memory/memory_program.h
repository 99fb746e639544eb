// What the programs have in common that run with memory missing (allocations.py): they have MPI_ERRORS_RETURN, call
// again what has found no memory, and give up where that does not help.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, retries;

static void give_up(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) strcpy(text, "MPI_ERR");
  fprintf(stderr, "rank %d gives up: %s: %s\n", rank, what, text);
  fflush(stderr);
  // In each of the ways: none of them may need memory.
  if (rank % 3 == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank % 3 == 2) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Send(&rank, 1, MPI_INT, size + 99, 0, MPI_COMM_WORLD);
  }
  exit(3);
}

static void wrong(const char* what) {
  fprintf(stderr, "rank %d: WRONG ANSWER of %s\n", rank, what);
  fflush(stderr);
  _Exit(99);
}
#define EXPECT(condition) ((condition) ? (void)0 : wrong(#condition))

static int no_memory(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class == MPI_ERR_NO_MEM;
}

// Calls again what has found no memory, a few times.
#define CALL(call)                                                     \
  do {                                                                 \
    int code_ = (call), left_ = 3;                                     \
    while (no_memory(code_) && left_-- > 0) ++retries, code_ = (call); \
    if (code_ != MPI_SUCCESS) give_up(#call, code_);                   \
  } while (0)

static void start(int* argc, char*** argv, int wanted) {
  int provided = MPI_THREAD_SINGLE;
  const int started =
      wanted == MPI_THREAD_SINGLE ? MPI_Init(argc, argv) : MPI_Init_thread(argc, argv, wanted, &provided);
  if (started != MPI_SUCCESS) give_up("MPI_Init", started);
  if (provided < wanted) give_up("MPI_Init_thread", MPI_ERR_OTHER);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CALL(MPI_Comm_size(MPI_COMM_WORLD, &size));
}

static void finish(void) {
  int all = -1, mine = 1;
  CALL(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (rank == 0) printf("%d ranks have the right answers\n", all);
  CALL(MPI_Finalize());
}
