/* Nonblocking and persistent collectives in the company of others: many outstanding, waited for in any order
 * and in every way, between blocking collectives and messages, on several communicators at once, with
 * operators, types and communicators that are freed meanwhile. MPI report, 6.12 and 6.13. */
#include "check.h"

enum { kMany = 16 };

static int ways; /* how often each of the waits below found something */

/* Waits for all requests in one of several ways. */
static void wait_for(int n, MPI_Request* requests, int way) {
  int index, flag, done, indices[kMany], left = n;
  switch (way % 6) {
    case 0:
      CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
      break;
    case 1:
      for (int i = n - 1; i >= 0; i--) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
      break;
    case 2:
      for (; left > 0; left--) CHECK_OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
      break;
    case 3:
      for (; left > 0; left -= done) CHECK_OK(MPI_Testsome(n, requests, &done, indices, MPI_STATUSES_IGNORE));
      break;
    case 4:
      for (; left > 0; left -= done) CHECK_OK(MPI_Waitsome(n, requests, &done, indices, MPI_STATUSES_IGNORE));
      break;
    default:
      for (flag = 0; !flag;) CHECK_OK(MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE));
  }
  for (int i = 0; i < n; i++) CHECK(requests[i] == MPI_REQUEST_NULL);
  ways++;
}

/* Many sums at a time. */
static void test_many(void) {
  MPI_Request requests[kMany];
  int given[kMany], sums[kMany];
  for (int way = 0; way < 6; way++) {
    for (int i = 0; i < kMany; i++) {
      given[i] = world_rank * (i + 1) + way;
      sums[i] = -1;
      CHECK_OK(MPI_Iallreduce(&given[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    }
    wait_for(kMany, requests, way);
    for (int i = 0; i < kMany; i++)
      CHECK_EQ(sums[i], world_size * (world_size - 1) / 2 * (i + 1) + way * world_size);
  }
}

/* Different operations, blocking ones and messages between their start and their end. */
static void test_mixture(void) {
  const int n = world_size, next = (world_rank + 1) % n, previous = (world_rank + n - 1) % n;
  int *all = check_malloc((size_t)n * sizeof(int)), *from = check_malloc((size_t)n * sizeof(int)),
      *to = check_malloc((size_t)n * sizeof(int));
  static int large[5000];
  for (int round = 0; round < 6; round++) {
    MPI_Request requests[6];
    int token = -1, sum = -1, prefix = -1, most = -1, mine = world_rank + round, root = round % n;
    for (int r = 0; r < n; r++) to[r] = world_rank * n + r + round;
    for (int i = 0; i < 5000; i++) large[i] = world_rank == root ? i * 3 + round : -1;
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Ibcast(large, 5000, MPI_INT, root, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, n * (n - 1) / 2 + n * round);
    CHECK_OK(MPI_Ialltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, next, 3, &token, 1, MPI_INT, previous, 3, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_EQ(token, previous + round);
    CHECK_OK(MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[3]));
    CHECK_OK(MPI_Iscan(&mine, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]));
    CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[5]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&mine, 1, MPI_INT, previous, 9, MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce(&mine, &most, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
    wait_for(6, requests, round);
    CHECK_EQ(token, next + round);
    CHECK_EQ(prefix, world_rank * (world_rank + 1) / 2 + (world_rank + 1) * round);
    for (int r = 0; r < n; r++) {
      CHECK_EQ(all[r], r + round);
      CHECK_EQ(from[r], r * n + world_rank + round);
    }
    for (int i = 0; i < 5000; i++) CHECK_EQ(large[i], i * 3 + round);
  }
  free(all);
  free(from);
  free(to);
}

/* 2 x 2 matrices modulo a prime: an operator that does not commute. */
static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  const int* a = in;
  int* b = inout;
  (void)type;
  for (int i = 0; i < *length; i++, a += 4, b += 4) {
    const int product[4] = {(a[0] * b[0] + a[1] * b[2]) % 10007, (a[0] * b[1] + a[1] * b[3]) % 10007,
                            (a[2] * b[0] + a[3] * b[2]) % 10007, (a[2] * b[1] + a[3] * b[3]) % 10007};
    memcpy(b, product, sizeof product);
  }
}

/* Communicators made one from the other, with an operation on each; types, operators and the communicators
 * are freed while the operations go on. */
static void test_freed_meanwhile(void) {
  MPI_Request requests[4];
  MPI_Comm comms[4];
  int given[4][4], products[4][4], expected[4][4];
  for (int i = 0; i < 4; i++) {
    MPI_Datatype matrix;
    MPI_Op product;
    CHECK_OK(MPI_Type_contiguous(4, MPI_INT, &matrix));
    CHECK_OK(MPI_Type_commit(&matrix));
    CHECK_OK(MPI_Op_create(multiply, 0, &product));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, i == 1 ? world_rank % 2 : 0, i % 2 ? -world_rank : world_rank,
                            &comms[i]));
    for (int k = 0; k < 4; k++) given[i][k] = (world_rank * 7 + i * 3 + k * k + 1) % 50;
    CHECK_OK(MPI_Allreduce(given[i], expected[i], 1, matrix, product, comms[i]));
    CHECK_OK(MPI_Iallreduce(given[i], products[i], 1, matrix, product, comms[i], &requests[i]));
    CHECK_OK(MPI_Type_free(&matrix));
    CHECK_OK(MPI_Op_free(&product));
    CHECK_OK(MPI_Comm_free(&comms[i]));
  }
  wait_for(4, requests, 3);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) CHECK_EQ(products[i][k], expected[i][k]);
}

/* Ranks run ahead of each other: roots of broadcasts need not wait for anybody. */
static void test_running_ahead(void) {
  int data[3 * kMany];
  MPI_Request requests[3 * kMany];
  for (int i = 0; i < 3 * kMany; i++) {
    data[i] = world_rank == 0 ? i * i : -1;
    CHECK_OK(MPI_Ibcast(&data[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]));
  }
  CHECK_OK(MPI_Waitall(3 * kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3 * kMany; i++) CHECK_EQ(data[i], i * i);
}

/* Between two groups; the groups are the even and the odd ranks. */
static void test_between_groups(void) {
  const int color = world_rank % 2, evens = (world_size + 1) / 2, others = color ? evens : world_size / 2;
  int one = world_rank + 1, sum = -1, data = -1, rank;
  int* from = check_malloc((size_t)world_size * sizeof(int));
  MPI_Comm group, inter;
  MPI_Request requests[4];
  if (world_size < 2) {
    free(from);
    return;
  }
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &group));
  CHECK_OK(MPI_Comm_rank(group, &rank));
  CHECK_OK(MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - color, 4, &inter));
  for (int round = 0; round < 5; round++) {
    const int root = color ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0; /* the odd group's first sends */
    if (root == MPI_ROOT) data = 100 + round;
    CHECK_OK(MPI_Ibarrier(inter, &requests[0]));
    CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, &requests[1]));
    CHECK_OK(MPI_Ibcast(&data, 1, MPI_INT, root, inter, &requests[2]));
    CHECK_OK(MPI_Iallgather(&one, 1, MPI_INT, from, 1, MPI_INT, inter, &requests[3]));
    CHECK_OK(MPI_Barrier(inter));
    wait_for(4, requests, round);
    int others_sum = 0;
    for (int r = 0; r < others; r++) {
      CHECK_EQ(from[r], 2 * r + 1 + (1 - color));
      others_sum += 2 * r + 1 + (1 - color);
    }
    CHECK_EQ(sum, others_sum);
    CHECK(color == 1 || data == 100 + round);
  }
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Comm_free(&group));
  free(from);
}

/* With the neighbours on a ring. */
static void test_neighbours(void) {
  const int n = world_size, left = (world_rank + n - 1) % n, right = (world_rank + 1) % n;
  int periodic = 1, mine = world_rank, got[2][2], to[2], counts[2] = {1, 1}, displs[2] = {0, 1};
  MPI_Aint offsets[2] = {0, sizeof(int)};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Comm ring;
  MPI_Request requests[2];
  if (n < 3) return; /* who is on both sides: another test's */
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &ring));
  to[0] = world_rank * 10 + 1; /* for the left one */
  to[1] = world_rank * 10 + 2;
  for (int round = 0; round < 3; round++) {
    memset(got, -1, sizeof got);
    if (round == 0) {
      CHECK_OK(MPI_Ineighbor_allgather(&mine, 1, MPI_INT, got[0], 1, MPI_INT, ring, &requests[0]));
      CHECK_OK(MPI_Ineighbor_alltoall(to, 1, MPI_INT, got[1], 1, MPI_INT, ring, &requests[1]));
    } else if (round == 1) {
      CHECK_OK(
          MPI_Ineighbor_allgatherv(&mine, 1, MPI_INT, got[0], counts, displs, MPI_INT, ring, &requests[0]));
      CHECK_OK(MPI_Ineighbor_alltoallv(to, counts, displs, MPI_INT, got[1], counts, displs, MPI_INT, ring,
                                       &requests[1]));
    } else {
      CHECK_OK(MPI_Ineighbor_allgather(&mine, 1, MPI_INT, got[0], 1, MPI_INT, ring, &requests[0]));
      CHECK_OK(MPI_Ineighbor_alltoallw(to, counts, offsets, types, got[1], counts, offsets, types, ring,
                                       &requests[1]));
    }
    wait_for(2, requests, round);
    CHECK_EQ(got[0][0], left);
    CHECK_EQ(got[0][1], right);
    CHECK_EQ(got[1][0], left * 10 + 2);
    CHECK_EQ(got[1][1], right * 10 + 1);
  }
#if MPI_VERSION >= 4
  CHECK_OK(
      MPI_Neighbor_allgather_init(&mine, 1, MPI_INT, got[0], 1, MPI_INT, ring, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Neighbor_alltoallw_init(to, counts, offsets, types, got[1], counts, offsets, types, ring,
                                       MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 4; round++) {
    memset(got, -1, sizeof got);
    mine = world_rank + round;
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(got[0][0], left + round);
    CHECK_EQ(got[0][1], right + round);
    CHECK_EQ(got[1][0], left * 10 + 2);
    CHECK_EQ(got[1][1], right * 10 + 1);
  }
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
#endif
  CHECK_OK(MPI_Comm_free(&ring));
}

#if MPI_VERSION >= 4
/* Persistent operations are matched by the order in which they were made; each rank starts them in an order
 * of its own. */
static void test_persistent_order(void) {
  enum { kOperations = 5 };
  MPI_Request requests[kOperations];
  int given[kOperations], got[kOperations];
  for (int i = 0; i < kOperations; i++)
    CHECK_OK(i % 2 ? MPI_Allreduce_init(&given[i], &got[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                        MPI_INFO_NULL, &requests[i])
                   : MPI_Bcast_init(&got[i], 1, MPI_INT, i % world_size, MPI_COMM_WORLD, MPI_INFO_NULL,
                                    &requests[i]));
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < kOperations; i++) {
      given[i] = world_rank + i + round;
      got[i] = world_rank == i % world_size ? 1000 * i + round : -1;
    }
    if (round % 4 == 3) {
      CHECK_OK(MPI_Startall(kOperations, requests));
    } else {
      for (int i = 0; i < kOperations; i++)
        CHECK_OK(MPI_Start(&requests[(i * 2 + world_rank + round) % kOperations]));
    }
    CHECK_OK(MPI_Waitall(kOperations, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kOperations; i++)
      CHECK_EQ(got[i],
               i % 2 ? world_size * (world_size - 1) / 2 + world_size * (i + round) : 1000 * i + round);
  }
  for (int i = 0; i < kOperations; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}
#endif

#ifdef MPI_ABI_VERSION
/* An operation completes while its rank does something else: rank 0 sleeps in a receive, or computes; that
 * its result has come is seen by rank 1, which looks into rank 0's memory, if both live in one process. */
static void test_progress_alone(void) {
  volatile int result = -1;
  volatile int* seen = NULL;
  int one = 1, flag, dummy;
  MPI_Request request, never;
  long process = kernel_process(), differ = 0;
  if (world_size < 2) return;
  CHECK_OK(MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD));
  differ = world_rank == 1 && process != kernel_process();
  CHECK_OK(MPI_Bcast(&differ, 1, MPI_LONG, 1, MPI_COMM_WORLD));
  if (differ) return;
  CHECK_OK(MPI_Iallreduce(&one, (int*)&result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  if (world_rank == 0) {
    volatile int* address = &result;
    CHECK_OK(MPI_Send(&address, sizeof address, MPI_BYTE, 1, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&dummy, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(result, world_size);
  } else if (world_rank == 1) {
    CHECK_OK(MPI_Recv(&seen, sizeof seen, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&dummy, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &never));
    while (*seen != world_size) CHECK_OK(MPI_Test(&never, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&never));
    CHECK_OK(MPI_Wait(&never, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&one, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
  }
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(result, world_size);
}

/* Requests that nobody waits for: MPI_Finalize lets the operations come to their end. */
static int left_behind[kMany], counted[kMany];
static void leave_behind(void) {
  for (int i = 0; i < kMany; i++) {
    MPI_Request request;
    left_behind[i] = i;
    CHECK_OK(MPI_Iallreduce(&left_behind[i], &counted[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Request_free(&request));
  }
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_many();
  test_mixture();
  test_freed_meanwhile();
  test_running_ahead();
  test_between_groups();
  test_neighbours();
#if MPI_VERSION >= 4
  test_persistent_order();
#endif
#ifdef MPI_ABI_VERSION
  test_progress_alone();
  leave_behind();
#endif
  CHECK(ways > 0);
  return check_end();
}
