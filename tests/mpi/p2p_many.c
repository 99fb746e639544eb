/* Many messages and many peers: thousands of posted receives, thousands of unexpected messages taken in any
 * order, all-to-one, all-to-all. */
#include "check.h"

enum { kMany = 5000 };

static void test_posted(void) {
  int *in = check_malloc(kMany * sizeof *in), right = (world_rank + 1) % world_size,
      left = (world_rank + world_size - 1) % world_size;
  MPI_Request* requests = check_malloc(kMany * sizeof *requests);
  for (int i = 0; i < kMany; i++)
    CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = kMany - 1; i >= 0; i--) { /* matched from the far end */
    int value = i ^ world_rank;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, right, i, MPI_COMM_WORLD));
  }
  CHECK_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; i++) CHECK_EQ(in[i], i ^ left);
  free(in);
  free(requests);
}

static void test_unexpected(void) {
  int *out = check_malloc(kMany * sizeof *out), right = (world_rank + 1) % world_size,
      left = (world_rank + world_size - 1) % world_size;
  MPI_Request* requests = check_malloc(kMany * sizeof *requests);
  for (int i = 0; i < kMany; i++) {
    out[i] = i + world_rank;
    CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMany; i++) {
    int tag = (int)((long long)i * 3571 % kMany), value = -1; /* 3571 and kMany share no factor */
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(value, tag + left);
  }
  CHECK_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  free(out);
  free(requests);
}

/* Rank 0 receives from everybody by wildcard, then answers each. */
static void test_all_to_one(void) {
  if (world_rank != 0) {
    int value = world_rank * 3, answer = -1;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(answer, world_rank * 3 + 1);
    return;
  }
  int* values = calloc((size_t)world_size, sizeof(int));
  for (int i = 1; i < world_size; i++) {
    int value = -1;
    MPI_Status status;
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status));
    CHECK_EQ(values[status.MPI_SOURCE], 0);
    values[status.MPI_SOURCE] = value;
  }
  for (int i = 1; i < world_size; i++) {
    CHECK_EQ(values[i], 3 * i);
    values[i]++;
    CHECK_OK(MPI_Send(&values[i], 1, MPI_INT, i, 2, MPI_COMM_WORLD));
  }
  free(values);
}

/* Everybody with everybody at once (at most 64 neighbours on either side). */
static void test_all_to_all(void) {
  int reach = world_size - 1 < 64 ? world_size - 1 : 64;
  int *in = check_malloc((size_t)(reach + 1) * sizeof *in),
      *out = check_malloc((size_t)(reach + 1) * sizeof *out);
  MPI_Request* requests = check_malloc((size_t)(2 * reach + 2) * sizeof *requests);
  for (int d = 1; d <= reach; d++)
    CHECK_OK(MPI_Irecv(&in[d], 1, MPI_INT, (world_rank + world_size - d) % world_size, d, MPI_COMM_WORLD,
                       &requests[d - 1]));
  for (int d = 1; d <= reach; d++) {
    out[d] = world_rank * 100 + d;
    CHECK_OK(MPI_Isend(&out[d], 1, MPI_INT, (world_rank + d) % world_size, d, MPI_COMM_WORLD,
                       &requests[reach + d - 1]));
  }
  CHECK_OK(MPI_Waitall(2 * reach, requests, MPI_STATUSES_IGNORE));
  for (int d = 1; d <= reach; d++) CHECK_EQ(in[d], (world_rank + world_size - d) % world_size * 100 + d);
  free(in);
  free(out);
  free(requests);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (world_size <= 16) {
    test_posted();
    test_unexpected();
  }
  test_all_to_one();
  test_all_to_all();
  return check_end();
}
