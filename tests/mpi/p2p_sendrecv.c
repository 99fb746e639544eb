/* MPI_Sendrecv and MPI_Sendrecv_replace: rings, pairs, the rank itself, MPI_PROC_NULL, different types and
 * sizes on the two sides. */
#include "check.h"

static void test_ring(int count) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, got = -1;
  int *out = check_malloc((size_t)count * sizeof *out), *in = check_malloc((size_t)count * sizeof *in);
  MPI_Status status;
  for (int i = 0; i < count; i++) out[i] = world_rank * 1000003 + i;
  CHECK_OK(MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  for (int i = 0; i < count; i++) CHECK_EQ(in[i], left * 1000003 + i);
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &got));
  CHECK_EQ(got, count);
  /* The value travels around the whole ring. */
  for (int step = 0; step < world_size; step++)
    CHECK_OK(MPI_Sendrecv_replace(out, count, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status));
  for (int i = 0; i < count; i++) CHECK_EQ(out[i], world_rank * 1000003 + i);
  free(out);
  free(in);
}

static void test_self(void) {
  double out = 2.5 + world_rank, in = 0;
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(&out, 1, MPI_DOUBLE, world_rank, 5, &in, 1, MPI_DOUBLE, world_rank, 5, MPI_COMM_WORLD,
                        &status));
  CHECK(in == out);
  CHECK_EQ(status.MPI_SOURCE, world_rank);
  CHECK_OK(MPI_Sendrecv_replace(&in, 1, MPI_DOUBLE, 0, 6, 0, 6, MPI_COMM_SELF, &status));
  CHECK(in == out);
}

static void test_null(void) {
  int out = 1, in = 77, count = -1;
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                        &status));
  CHECK_EQ(in, 77);
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  /* A chain: the ends have no neighbour. */
  int left = world_rank > 0 ? world_rank - 1 : MPI_PROC_NULL,
      right = world_rank + 1 < world_size ? world_rank + 1 : MPI_PROC_NULL;
  in = 77;
  CHECK_OK(
      MPI_Sendrecv(&world_rank, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status));
  CHECK_EQ(in, world_rank > 0 ? world_rank - 1 : 77);
  CHECK_EQ(status.MPI_SOURCE, left);
  in = world_rank;
  CHECK_OK(MPI_Sendrecv_replace(&in, 1, MPI_INT, right, 4, left, 4, MPI_COMM_WORLD, &status));
  CHECK_EQ(in, world_rank > 0 ? world_rank - 1 : world_rank);
}

/* The same where world ranks follow each other without a rule: even ones before odd ones, the first two changed. */
static void test_null_in_a_list(void) {
  const int key = world_rank < 2 ? 1 - world_rank : world_rank % 2 * world_size + world_rank;
  int rank, size, in = 77;
  MPI_Comm listed;
  MPI_Status status;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, key, &listed));
  MPI_Comm_rank(listed, &rank);
  MPI_Comm_size(listed, &size);
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, listed, &status));
  CHECK_EQ(in, rank > 0 ? rank - 1 : 77);
  CHECK_EQ(status.MPI_SOURCE, left);
  MPI_Comm_free(&listed);
}

/* Different counts and types on the two sides; wildcards. */
static void test_mixed(void) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, count = -1;
  double out[6] = {1, 2, 3, 4, 5, 6.5 + world_rank};
  unsigned char in[100];
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(out, 6, MPI_DOUBLE, right, 9, in, 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                        MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_EQ(status.MPI_TAG, 9);
  CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK_EQ(count, 6);
  double last;
  memcpy(&last, in + 5 * sizeof(double), sizeof last);
  CHECK(last == 6.5 + left);
  MPI_Barrier(MPI_COMM_WORLD); /* wildcards must not catch what follows */
}

/* Pairs exchange through a strided type, in place. */
static void test_strided(void) {
  int peer = world_rank ^ 1, values[20];
  if (peer >= world_size) return;
  MPI_Datatype type;
  CHECK_OK(MPI_Type_vector(10, 1, 2, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  for (int i = 0; i < 20; i++) values[i] = world_rank * 100 + i;
  CHECK_OK(MPI_Sendrecv_replace(values, 1, type, peer, 11, peer, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < 20; i++) CHECK_EQ(values[i], (i % 2 == 0 ? peer : world_rank) * 100 + i);
  CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_ring(1);
  test_ring(1000);
  if (world_size <= 64) test_ring(100000);
  test_ring(0);
  test_self();
  test_null();
  test_null_in_a_list();
  test_mixed();
  test_strided();
  return check_end();
}
