/* Collectives with large buffers: megabytes per rank, odd sizes, and many operations in a row without a
 * barrier in between. */
#include "check.h"

static void test_large(int count) {
  int *a = check_malloc((size_t)count * sizeof(int)), *b = check_malloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; i++) a[i] = world_rank == world_size - 1 ? i * 3 + 1 : -1;
  CHECK_OK(MPI_Bcast(a, count, MPI_INT, world_size - 1, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++) CHECK_EQ(a[i], i * 3 + 1);
  for (int i = 0; i < count; i++) a[i] = world_rank + i % 1000;
  CHECK_OK(MPI_Allreduce(a, b, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  int ranks = world_size * (world_size - 1) / 2;
  for (int i = 0; i < count; i++) CHECK_EQ(b[i], ranks + world_size * (i % 1000));
  CHECK_OK(MPI_Reduce(a, b, count, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD));
  for (int i = 0; world_rank == 0 && i < count; i++) CHECK_EQ(b[i], world_size - 1 + i % 1000);
  CHECK_OK(MPI_Scan(a, b, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++)
    CHECK_EQ(b[i], world_rank * (world_rank + 1) / 2 + (world_rank + 1) * (i % 1000));
  free(a);
  free(b);
}

static void test_large_blocks(int count) {
  size_t total = (size_t)count * (size_t)world_size;
  int *a = check_malloc(total * sizeof(int)), *b = check_malloc(total * sizeof(int));
  for (size_t i = 0; i < total; i++) a[i] = world_rank * 31 + (int)i;
  CHECK_OK(MPI_Alltoall(a, count, MPI_INT, b, count, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < world_size; r++)
    for (int i = 0; i < count; i++)
      CHECK_EQ(b[(size_t)r * (size_t)count + (size_t)i], r * 31 + world_rank * count + i);
  CHECK_OK(MPI_Allgather(a, count, MPI_INT, b, count, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < world_size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(b[(size_t)r * (size_t)count + (size_t)i], r * 31 + i);
  CHECK_OK(MPI_Gather(a, count, MPI_INT, b, count, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Scatter(b, count, MPI_INT, a, count, MPI_INT, 0, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++) CHECK_EQ(a[i], world_rank * 31 + i);
  free(a);
  free(b);
}

/* One operation after the other, ranks far ahead of others. */
static void test_stream(void) {
  for (int i = 0; i < 2000; i++) {
    int value = world_rank == i % world_size ? i : -1, sum = -1, one = 1;
    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, i % world_size, MPI_COMM_WORLD));
    CHECK_EQ(value, i);
    CHECK_OK(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, (i * 7) % world_size, MPI_COMM_WORLD));
    if (world_rank == (i * 7) % world_size) CHECK_EQ(sum, world_size);
    if (i % 16 == 0) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_large(1);
  test_large(65537);
  if (world_size <= 16) test_large(1 << 20);
  test_large_blocks(world_size <= 16 ? 50001 : 300);
  test_stream();
  return check_end();
}
