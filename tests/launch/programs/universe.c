/* Fills MPI_UNIVERSE_SIZE with ranks that it spawns: rank 0 prints "universe U of N", every rank of the job then "parent"
 * or "child", the node process that it runs in, and the worker. */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The process that the kernel knows: under tmpi that of all ranks of a node, while getpid() is the rank's. */
static long kernel_process(void) {
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atol(number) : -1;
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter = MPI_COMM_NULL;
  int rank, size, worker, workers, flag = 0, *universe, least, most, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  if (!flag) return 1;
  MPI_Allreduce(universe, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(universe, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most) return 2;
  if (parent == MPI_COMM_NULL) {
    if (rank == 0) printf("universe %d of %d\n", *universe, size);
    if (*universe > size)
      MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, *universe - size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                     MPI_ERRCODES_IGNORE);
  } else {
    inter = parent;
  }
  if (inter != MPI_COMM_NULL) {
    MPI_Comm all;
    MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    if (sum != *universe) return 3;
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
  }
  MPIX_Get_worker(&worker, &workers);
  printf("%s %ld %d\n", parent == MPI_COMM_NULL ? "parent" : "child", kernel_process(), worker);
  MPI_Finalize();
  return 0;
}
