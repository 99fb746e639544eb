/* startup: the smallest MPI program: start, allreduce, exit. With --memory rank 0 prints, while all ranks are
 * alive, the memory of its process (Pss: shared pages divided by the processes that share them), in all and
 * per rank; that is the whole job where one process holds all ranks. */
#include "bench.h"

/* A value of /proc/self/smaps_rollup in kB, -1 if there is none. */
static long smaps_value(const char* name) {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long value = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
  if (file != NULL) fclose(file);
  return value;
}

int main(int argc, char** argv) {
  int rank, size, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && option_given(argc, argv, "--memory")) {
    long pss = smaps_value("Pss:"), dirty = smaps_value("Private_Dirty:");
    printf("# name ranks pss_kB pss_kB/rank private_dirty_kB\nmemory %d %ld %.2f %ld\n", size, pss,
           (double)pss / size, dirty);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == size ? 0 : 1;
}
