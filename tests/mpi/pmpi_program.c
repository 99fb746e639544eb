/* The program that is profiled by pmpi_count.c: its calls are counted, per rank, and only its own (the
 * library's inner calls are not). */
#include "check.h"

int profiled_calls(const char* name);

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, value = -1,
      sum = 0;
  CHECK_EQ(profiled_calls("init"), 1);
  for (int i = 0; i < world_rank + 3; i++)
    CHECK_OK(MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK_EQ(profiled_calls("send"), world_rank + 3); /* every rank has its own counters */
  MPI_Request request;
  CHECK_OK(MPI_Isend(&world_rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
  CHECK_EQ(value, left);
  CHECK_OK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(PMPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* past the profiler */
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  CHECK_EQ(profiled_calls("isend"), 1);
  CHECK_EQ(profiled_calls("recv"), 1);
  CHECK_EQ(profiled_calls("waitall"), 1);
  CHECK_EQ(profiled_calls("allreduce"), 1);
  int code = check_end();
  return code == 0 && profiled_calls("finalize") == 1 ? 0 : 1;
}
