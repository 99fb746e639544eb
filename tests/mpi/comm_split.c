/* MPI_Comm_split: colours, keys, ties, MPI_UNDEFINED, nested; MPI_Comm_split_type. MPI report, 7.4.2. */
#include "check.h"

static int member(int rank, int colours) {
  return rank % colours;
}

static void test_colours(int colours) {
  MPI_Comm comm;
  int rank, size, want_size = 0, want_rank = 0;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, member(world_rank, colours), world_rank, &comm));
  for (int r = 0; r < world_size; r++)
    if (member(r, colours) == member(world_rank, colours)) want_rank += r < world_rank, want_size++;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(rank, want_rank);
  CHECK_EQ(size, want_size);
  int sum = -1, want = 0;
  for (int r = 0; r < world_size; r++)
    if (member(r, colours) == member(world_rank, colours)) want += r;
  CHECK_OK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, want);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Keys decide the order; equal keys keep the old order; keys may be negative and extreme. */
static void test_keys(void) {
  MPI_Comm comm;
  int rank, got;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 3, 0, &comm));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(rank, world_rank);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank % 2 ? -2147483647 : 2147483647, &comm));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  int odd = world_size / 2;
  CHECK_EQ(rank, world_rank % 2 ? world_rank / 2 : odd + world_rank / 2);
  got = rank == 0 ? world_rank : -1;
  CHECK_OK(MPI_Bcast(&got, 1, MPI_INT, 0, comm));
  CHECK_EQ(got, world_size > 1 ? 1 : 0);
  CHECK_OK(MPI_Comm_free(&comm));
}

static void test_undefined(void) {
  MPI_Comm comm;
  int size;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 7, 0, &comm));
  CHECK_EQ(comm == MPI_COMM_NULL, world_rank == 0);
  if (comm != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_EQ(size, world_size - 1);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
  CHECK(comm == MPI_COMM_NULL);
}

/* Halves of halves; traffic of the levels stays apart. */
static void test_nested(void) {
  MPI_Comm comm = MPI_COMM_WORLD, levels[16];
  int depth = 0, rank = world_rank, size = world_size;
  while (size > 1) {
    CHECK_OK(MPI_Comm_split(comm, rank < size / 2, -rank, &levels[depth]));
    comm = levels[depth++];
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int sum = -1;
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2);
  }
  while (depth > 0) CHECK_OK(MPI_Comm_free(&levels[--depth]));
}

static void test_type(void) {
  MPI_Comm comm;
  int rank, size, result, before = 0;
  const int shared = ranks_sharing_memory();
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, &comm));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(size, shared);
  MPI_Exscan(&world_rank, &before, 1, MPI_INT, MPI_MIN, comm);
  CHECK(rank == 0 || before > world_rank);
  CHECK(size < world_size || rank == world_size - 1 - world_rank);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
  CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
  CHECK_EQ(result, shared == world_size ? MPI_CONGRUENT : MPI_UNEQUAL);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
  CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_colours(1);
  test_colours(2);
  test_colours(3);
  test_colours(world_size);
  test_keys();
  test_undefined();
  test_nested();
  test_type();
  return check_end();
}
