/* MPI_Cancel and MPI_Test_cancelled: a receive that nothing matches, one that has been matched, persistent
 * ones, and sends (which may be cancelled or complete, but not both). MPI report, 3.8.4. */
#include "check.h"

static void test_unmatched(void) {
  int value = 42, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Cancel(&request));
  CHECK(request != MPI_REQUEST_NULL); /* still has to be completed */
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK(cancelled);
  CHECK_EQ(value, 42);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The message goes to the next receive, not to the cancelled one. */
static void test_next_gets_it(void) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int first = -1, second = -1, cancelled = 0;
  MPI_Request requests[2];
  MPI_Status status;
  CHECK_OK(MPI_Irecv(&first, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Irecv(&second, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[1]));
  CHECK_OK(MPI_Cancel(&requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK(cancelled);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
  CHECK_OK(MPI_Wait(&requests[1], &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK(!cancelled);
  CHECK_EQ(first, -1);
  CHECK_EQ(second, left);
}

/* Too late: the receive has its message. */
static void test_matched(void) {
  int value = -1, cancelled = 1;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK(!cancelled);
  CHECK_EQ(value, world_rank);
}

/* A cancelled persistent receive can be started again. */
static void test_persistent(void) {
  int value = -1, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &request));
  for (int round = 0; round < 3; round++) {
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Send(&round, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(!cancelled);
    CHECK_EQ(value, round);
  }
  CHECK_OK(MPI_Request_free(&request));
}

#ifdef MPI_ABI_VERSION /* other libraries do not promise to cancel sends in every case, or hang */
static void test_send(void) {
  int value = 7, got = -1, cancelled = -1, flag = 1;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Issend(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
  if (flag) CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK_EQ(cancelled, !flag);
}

/* A send whose message was buffered, in a cell or a channel: cancelled as long as nobody has received it, and
 * only this one of several alike. */
static void test_buffered_send(int bytes) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, flag;
  char *data[3], *in = check_malloc((size_t)bytes);
  MPI_Request requests[3];
  MPI_Status status;
  for (int i = 0; i < 3; i++) {
    data[i] = check_malloc((size_t)bytes);
    pattern_fill(data[i], (size_t)bytes, (uint32_t)(world_rank * 3 + i));
    CHECK_OK(MPI_Isend(data[i], bytes, MPI_BYTE, right, 6, MPI_COMM_WORLD, &requests[i]));
  }
  CHECK_OK(MPI_Cancel(&requests[1]));
  CHECK_OK(MPI_Wait(&requests[1], &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody has received yet */
  for (int i = 0; i < 3; i += 2) {
    CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)bytes, (uint32_t)(left * 3 + i));
  }
  CHECK_OK(MPI_Iprobe(left, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD); /* now all is received: too late */
  CHECK_OK(MPI_Cancel(&requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Wait(&requests[2], &status));
  for (int i = 0; i < 3; i++) free(data[i]);
  free(in);
}

/* A buffered-mode send gives its room back. */
static void test_ibsend(void) {
  char buffer[8000], data[6000] = {0}, *detached; /* too large for a cell: stays in the buffer */
  int size, flag;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
  for (int round = 0; round < 3; round++) { /* there is room for one at a time */
    CHECK_OK(MPI_Ibsend(data, sizeof data, MPI_BYTE, 0, 7, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
  }
  CHECK_OK(MPI_Iprobe(0, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
}
#endif

/* Many posted, every second one cancelled, with wildcards among them. */
static void test_many(void) {
  enum { kMany = 200 };
  int values[kMany], right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[kMany];
  MPI_Status status;
  for (int i = 0; i < kMany; i++) {
    values[i] = -1;
    CHECK_OK(
        MPI_Irecv(&values[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]));
  }
  for (int i = 0; i < kMany; i += 2) CHECK_OK(MPI_Cancel(&requests[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < kMany; i += 2) CHECK_OK(MPI_Send(&i, 1, MPI_INT, right, i, MPI_COMM_WORLD));
  for (int i = 0; i < kMany; i++) {
    int cancelled = -1;
    CHECK_OK(MPI_Wait(&requests[i], &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, i % 2 == 0);
    CHECK_EQ(values[i], i % 2 == 0 ? -1 : i);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_unmatched();
  test_next_gets_it();
  test_matched();
  test_persistent();
#ifdef MPI_ABI_VERSION
  test_send();
  for (int bytes = 1; bytes <= 10000; bytes *= 10)
    test_buffered_send(bytes); /* cells, channels, descriptors */
  test_ibsend();
#endif
  test_many();
  return check_end();
}
