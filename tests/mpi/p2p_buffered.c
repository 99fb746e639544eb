/* Buffered sends: attach, detach (which waits), many messages, space reused, too little space. MPI
 * report, 3.6. */
#include "check.h"

enum { kMessages = 50, kInts = 200 };

/* All ranks send first and receive later: without buffers this would deadlock for large messages. */
static void test_exchange(void) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, packed, size;
  CHECK_OK(MPI_Pack_size(kInts, MPI_INT, MPI_COMM_WORLD, &packed));
  int bytes = kMessages * (packed + MPI_BSEND_OVERHEAD);
  char *buffer = check_malloc((size_t)bytes), *detached = NULL;
  CHECK_OK(MPI_Buffer_attach(buffer, bytes));
  for (int round = 0; round < 5; round++) {
    int values[kInts];
    for (int m = 0; m < kMessages; m++) {
      for (int i = 0; i < kInts; i++) values[i] = round + m * 1000 + i + world_rank;
      CHECK_OK(MPI_Bsend(values, kInts, MPI_INT, right, m, MPI_COMM_WORLD));
      memset(values, 0xff, sizeof values); /* ours again at once */
    }
    for (int m = 0; m < kMessages; m++) {
      CHECK_OK(MPI_Recv(values, kInts, MPI_INT, left, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      for (int i = 0; i < kInts; i++) CHECK_EQ(values[i], round + m * 1000 + i + left);
    }
    /* Detaching waits until all messages have left; then the whole space is free again. */
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
    CHECK(detached == buffer);
    CHECK_EQ(size, bytes);
    CHECK_OK(MPI_Buffer_attach(buffer, bytes));
  }
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  free(buffer);
}

/* A buffered send completes without its receive, and detach delivers it. */
static void test_detach_delivers(void) {
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size, size;
  int bytes = 100000 + MPI_BSEND_OVERHEAD;
  char *buffer = check_malloc((size_t)bytes), *detached, *out = check_malloc(100000),
       *in = check_malloc(100000);
  MPI_Request receive;
  CHECK_OK(MPI_Buffer_attach(buffer, bytes));
  pattern_fill(out, 100000, (uint32_t)world_rank);
  CHECK_OK(MPI_Bsend(out, 100000, MPI_BYTE, to, 9, MPI_COMM_WORLD));
  memset(out, 0, 100000);
  CHECK_OK(MPI_Irecv(in, 100000, MPI_BYTE, from, 9, MPI_COMM_WORLD, &receive));
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  memset(buffer, 0, (size_t)bytes);
  CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, 100000, (uint32_t)from);
  free(buffer);
  free(out);
  free(in);
}

/* Strided data go through the buffer as well. */
static void test_strided(void) {
  int values[40], got[20], size;
  char buffer[1000 + MPI_BSEND_OVERHEAD], *detached;
  MPI_Datatype type;
  MPI_Request request;
  CHECK_OK(MPI_Type_vector(20, 1, 2, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
  for (int i = 0; i < 40; i++) values[i] = i;
  CHECK_OK(MPI_Ibsend(values, 1, type, 0, 1, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  memset(values, 0, sizeof values);
  CHECK_OK(MPI_Recv(got, 20, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < 20; i++) CHECK_EQ(got[i], 2 * i);
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  CHECK_OK(MPI_Type_free(&type));
}

static void test_errors(void) {
  char buffer[300 + MPI_BSEND_OVERHEAD], *detached;
  char data[1000] = {0};
  int size;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Bsend(data, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER); /* nothing attached */
#endif
  CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
#ifndef OPEN_MPI /* takes a second one */
  CHECK_CLASS(MPI_Buffer_attach(data, sizeof data), MPI_ERR_BUFFER);
#endif
#ifndef OPEN_MPI /* waits forever */
  CHECK_CLASS(MPI_Bsend(data, 1000, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);
#endif
  CHECK_OK(MPI_Bsend(data, 200, MPI_BYTE, 0, 0, comm));
  CHECK_OK(MPI_Recv(data, 200, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  CHECK_EQ(size, sizeof buffer);
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_exchange();
  test_detach_delivers();
  test_strided();
  test_errors();
  return check_end();
}
