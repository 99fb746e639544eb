/* one_sided MODE: rank 0 and those of its node wait for the other node in an epoch of the named kind, for ever. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static volatile double sum;

static void compute(void) {
  for (;;) sum += 1;
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  int rank, ranks, *memory, value = 1;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_allocate(1 << 20, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  const int victim = ranks - 1, dies = rank >= ranks / 2;
  MPI_Group all, group;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &victim, &group);
  if (strcmp(mode, "lock") == 0 && rank == victim) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, victim, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d is here\n", rank);
  fflush(stdout);
  if (dies) compute();
  if (strcmp(mode, "fence") == 0) {
    MPI_Win_fence(0, win);
  } else if (strcmp(mode, "start") == 0) {
    MPI_Win_start(group, 0, win);
  } else if (strcmp(mode, "lock") == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, win);
  } else if (strcmp(mode, "flush") == 0) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Put(&value, 1, MPI_INT, victim, 0, 1, MPI_INT, win);
    MPI_Win_flush(victim, win);
  } else if (strcmp(mode, "wait") == 0) {
    MPI_Win_post(group, 0, win);
    MPI_Win_wait(win);
  } else if (strcmp(mode, "unlock") == 0) {
    static char large[1 << 20];
    MPI_Win_lock(MPI_LOCK_SHARED, victim, MPI_MODE_NOCHECK, win);
    MPI_Put(large, sizeof large, MPI_CHAR, victim, 0, sizeof large, MPI_CHAR, win);
    MPI_Win_unlock(victim, win);
  } else if (strcmp(mode, "request") == 0) {
    MPI_Request request;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Rget(&value, 1, MPI_INT, victim, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
