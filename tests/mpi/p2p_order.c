/* Which message meets which receive: order between pairs, wildcards against exact receives, tags out of
 * order, communicators apart. MPI report, 3.5. */
#include "check.h"

enum { kMany = 300 };

static int right, left;

/* Same tag: in order, although modes, sizes and wildcards are mixed. */
static void test_pair_order(void) {
  static int out[kMany], in[kMany][3000];
  static int large[3000];
  MPI_Request receives[kMany], sends[kMany];
  for (int i = 0; i < kMany; i++)
    CHECK_OK(MPI_Irecv(in[i], 3000, MPI_INT, i % 4 == 3 ? MPI_ANY_SOURCE : left, i % 5 == 4 ? MPI_ANY_TAG : 1,
                       MPI_COMM_WORLD, &receives[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMany; i++) {
    out[i] = large[0] = i;
    sends[i] = MPI_REQUEST_NULL;
    if (i % 7 == 6) {
      CHECK_OK(MPI_Ssend(large, 3000, MPI_INT, right, 1, MPI_COMM_WORLD));
    } else {
      CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[i]));
    }
  }
  CHECK_OK(MPI_Waitall(kMany, receives, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; i++) CHECK_EQ(in[i][0], i);
}

static void test_unexpected_order(void) {
  static int out[kMany];
  MPI_Request sends[kMany];
  for (int i = 0; i < kMany; i++) {
    out[i] = i;
    CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, i % 3, MPI_COMM_WORLD, &sends[i]));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* By tag, the highest first; within a tag in order. Wildcards take the oldest of what is left. */
  for (int i = 2; i < kMany; i += 3) {
    int got = -1;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(got, i);
  }
  for (int i = 0; i < kMany; i++) {
    int got = -1;
    MPI_Status status;
    if (i % 3 == 2) continue;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_EQ(got, i);
    CHECK_EQ(status.MPI_TAG, i % 3);
  }
  CHECK_OK(MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Of the receives that match, the one posted first gets the message. */
static void test_posted_order(void) {
  int got[6] = {-1, -1, -1, -1, -1, -1};
  MPI_Request requests[6];
  CHECK_OK(MPI_Irecv(&got[0], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]));
  CHECK_OK(MPI_Irecv(&got[2], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]));
  CHECK_OK(MPI_Irecv(&got[3], 1, MPI_INT, left, 6, MPI_COMM_WORLD, &requests[3]));
  CHECK_OK(MPI_Irecv(&got[4], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[4]));
  CHECK_OK(MPI_Irecv(&got[5], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[5]));
  MPI_Barrier(MPI_COMM_WORLD);
  static const int tags[6] = {5, 6, 6, 5, 7, 5}, receive_of[6] = {0, 2, 3, 1, 4, 5};
  for (int i = 0; i < 6; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, right, tags[i], MPI_COMM_WORLD));
  CHECK_OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 6; i++) CHECK_EQ(got[receive_of[i]], i);
}

/* Communicators are apart: a wildcard on one does not see the other's messages. */
static void test_communicators(void) {
  MPI_Comm other;
  int on_world = -1, on_other = -1, flag = 1;
  MPI_Request requests[2];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  CHECK_OK(MPI_Irecv(&on_world, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
  int value = 1000 + world_rank;
  CHECK_OK(MPI_Isend(&value, 1, MPI_INT, right, 1, other, &requests[1]));
  CHECK_OK(MPI_Recv(&on_other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE));
  CHECK_EQ(on_other, 1000 + left);
  MPI_Barrier(MPI_COMM_WORLD); /* nor those of collective operations */
  CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  int sum = 0, one = 1;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, world_size);
  value = 2000 + world_rank;
  CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
  CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK_EQ(on_world, 2000 + left);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the wildcard must not catch what follows */
  CHECK_OK(MPI_Comm_free(&other));
}

/* Everybody sends to rank 0; per sender the order holds although sources are mixed. */
static void test_fan_in(void) {
  enum { kEach = 100 };
  if (world_rank > 0) {
    for (int i = 0; i < kEach; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, 50, MPI_COMM_WORLD));
  } else {
    int* next = calloc((size_t)world_size, sizeof(int));
    for (int i = 0; i < kEach * (world_size - 1); i++) {
      int value = -1;
      MPI_Status status;
      CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &status));
      CHECK_EQ(value, next[status.MPI_SOURCE]);
      next[status.MPI_SOURCE]++;
    }
    free(next);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  right = (world_rank + 1) % world_size;
  left = (world_rank + world_size - 1) % world_size;
  test_pair_order();
  MPI_Barrier(MPI_COMM_WORLD);
  test_unexpected_order();
  test_posted_order();
  MPI_Barrier(MPI_COMM_WORLD);
  test_communicators();
  test_fan_in();
  return check_end();
}
