/* MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe, MPI_Mrecv, MPI_Imrecv. MPI report, 3.8. */
#include "check.h"

static int right, left;

static void test_probe(int bytes, int wildcards) {
  unsigned char *out = check_malloc((size_t)bytes), *in = check_malloc((size_t)bytes);
  MPI_Request request;
  MPI_Status status, received;
  int count = -1;
  pattern_fill(out, (size_t)bytes, (uint32_t)world_rank);
  CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, right, 7, MPI_COMM_WORLD, &request));
  CHECK_OK(
      MPI_Probe(wildcards ? MPI_ANY_SOURCE : left, wildcards ? MPI_ANY_TAG : 7, MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_EQ(status.MPI_TAG, 7);
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  int flag = 0; /* it is still there */
  CHECK_OK(MPI_Iprobe(left, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
  CHECK_OK(MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &received));
  CHECK_PATTERN(in, (size_t)bytes, (uint32_t)left);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Iprobe(left, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  free(out);
  free(in);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A loop of MPI_Iprobe lets the sender run. */
static void test_iprobe_loop(void) {
  int flag = 0, value = -1, tries = 0;
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status));
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Isend(&world_rank, 1, MPI_INT, right, 99, MPI_COMM_WORLD, &request));
  while (!flag) {
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status));
    tries++;
  }
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, left, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(value, left);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(tries > 0);
}

/* A matched message is taken out: no other receive or probe can get it, and it is received by its handle, in
 * any order. */
static void test_matched(int bytes) {
  unsigned char *first = check_malloc((size_t)bytes), *second = check_malloc((size_t)bytes),
                *in = check_malloc((size_t)bytes);
  MPI_Request sends[2], receive;
  MPI_Message message1, message2;
  MPI_Status status;
  int flag = 0, count = -1;
  pattern_fill(first, (size_t)bytes, 100u + (uint32_t)world_rank);
  pattern_fill(second, (size_t)bytes, 200u + (uint32_t)world_rank);
  CHECK_OK(MPI_Isend(first, bytes, MPI_BYTE, right, 20, MPI_COMM_WORLD, &sends[0]));
  CHECK_OK(MPI_Isend(second, bytes, MPI_BYTE, right, 20, MPI_COMM_WORLD, &sends[1]));
  CHECK_OK(MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message1, &status));
  CHECK(message1 != MPI_MESSAGE_NULL && message1 != MPI_MESSAGE_NO_PROC);
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_EQ(status.MPI_TAG, 20);
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  for (flag = 0; !flag;) CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &flag, &message2, &status));
  CHECK_OK(MPI_Iprobe(left, 20, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Imrecv(in, bytes, MPI_BYTE, &message2, &receive));
  CHECK(message2 == MPI_MESSAGE_NULL);
  CHECK_OK(MPI_Wait(&receive, &status));
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_PATTERN(in, (size_t)bytes, 200u + (uint32_t)left);
  CHECK_OK(MPI_Mrecv(in, bytes, MPI_BYTE, &message1, &status));
  CHECK(message1 == MPI_MESSAGE_NULL);
  CHECK_EQ(status.MPI_TAG, 20);
  CHECK_PATTERN(in, (size_t)bytes, 100u + (uint32_t)left);
  CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Improbe(left, 20, MPI_COMM_WORLD, &flag, &message1, &status));
  CHECK(!flag);
  free(first);
  free(second);
  free(in);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_null_process(void) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Request request;
  int flag = 0, value = 3, count = -1;
  CHECK_OK(MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status));
  CHECK(flag);
  CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL);
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_OK(MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &message, &status));
  CHECK(flag && message == MPI_MESSAGE_NO_PROC);
  CHECK_OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(value, 3);
}

/* Rank 0 serves messages of unknown size from everybody. */
static void test_server(void) {
  enum { kEach = 30 };
  uint64_t state = 12345u + (uint64_t)world_rank;
  if (world_rank != 0) {
    for (int i = 0; i < kEach; i++) {
      int bytes = (int)(random_next(&state) % 20000);
      unsigned char* out = check_malloc((size_t)bytes);
      pattern_fill(out, (size_t)bytes, (uint32_t)(world_rank * 1000 + i));
      CHECK_OK(MPI_Send(out, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD));
      free(out);
    }
    return;
  }
  for (int left_over = kEach * (world_size - 1); left_over > 0; left_over--) {
    MPI_Message message;
    MPI_Status status;
    int bytes;
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    unsigned char* in = check_malloc((size_t)bytes);
    CHECK_OK(MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)bytes, (uint32_t)(status.MPI_SOURCE * 1000 + status.MPI_TAG));
    free(in);
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 8, 300, 9000, 200000};
  check_begin(&argc, &argv);
  right = (world_rank + 1) % world_size;
  left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < 5; i++) {
    test_probe(sizes[i], 0);
    test_probe(sizes[i], 1);
    test_matched(sizes[i]);
  }
  test_iprobe_loop();
  test_null_process();
  MPI_Barrier(MPI_COMM_WORLD);
  test_server();
  return check_end();
}
