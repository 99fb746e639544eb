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

#ifdef MPI_ABI_VERSION
/* A communicator's own buffer comes before the rank's; flushing waits for what is in the buffer. */
static void test_comm_buffer(void) {
  char own[8000], general[8000], *detached = NULL, data[6000], in[6000]; /* too large for a cell: they stay */
  int size = -1;
  MPI_Comm comm;
  MPI_Request request, flush[2];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Buffer_attach(general, sizeof general));
  CHECK_OK(MPI_Comm_attach_buffer(comm, own, sizeof own));
  CHECK_CLASS(MPI_Comm_attach_buffer(comm, own, sizeof own), MPI_ERR_BUFFER);
  pattern_fill(data, sizeof data, 1);
  CHECK_OK(MPI_Bsend(data, sizeof data, MPI_BYTE, 0, 1, comm));
  CHECK_OK(MPI_Bsend(data, sizeof data, MPI_BYTE, 0, 1, MPI_COMM_SELF)); /* both fit only side by side */
  CHECK_OK(MPI_Recv(in, sizeof in, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, sizeof in, 1);
  CHECK_OK(MPI_Recv(in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_flush_buffer(comm));
  CHECK_OK(MPI_Buffer_flush());
  CHECK_OK(MPI_Comm_iflush_buffer(comm, &flush[0]));
  CHECK_OK(MPI_Buffer_iflush(&flush[1]));
  CHECK_OK(MPI_Waitall(2, flush, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Comm_detach_buffer(comm, &detached, &size));
  CHECK(detached == own && size == (int)sizeof own);
  CHECK_CLASS(MPI_Comm_detach_buffer(comm, &detached, &size), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Comm_flush_buffer(comm), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Bsend(data, sizeof data, MPI_BYTE, 0, 1, comm)); /* the rank's buffer again */
  CHECK_OK(MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, comm, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  CHECK(detached == general);
  CHECK_CLASS(MPI_Buffer_flush(), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Buffer_iflush(&request), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* A flush is over when the messages before it have left, whatever comes after it. */
static void test_iflush(void) {
  enum { kBytes = 50000 };
  char *data = check_malloc(kBytes), *in = check_malloc(kBytes), *detached;
  int flag = 1, size;
  MPI_Request first, second;
  CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  pattern_fill(data, kBytes, 3);
  CHECK_OK(MPI_Bsend(data, kBytes, MPI_BYTE, 0, 1, MPI_COMM_SELF)); /* too large for a cell: stays */
  CHECK_OK(MPI_Buffer_iflush(&first));
  CHECK_OK(MPI_Bsend(data, kBytes, MPI_BYTE, 0, 2, MPI_COMM_SELF));
  CHECK_OK(MPI_Buffer_iflush(&second));
  CHECK_OK(MPI_Test(&first, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&first, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Test(&second, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&second, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, kBytes, 3);
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
  CHECK((void*)detached == MPI_BUFFER_AUTOMATIC && size == 0);
  free(data), free(in);
}

/* Sizes of 2 GiB and more, and arguments. */
static void test_large_attach(void) {
  char buffer[10], *detached;
  int size;
  MPI_Count large;
  MPI_Request request;
  CHECK_OK(MPI_Buffer_attach_c(buffer, (MPI_Count)1 << 40)); /* nothing is put there */
  CHECK_OK(MPI_Buffer_detach_c(&detached, &large));
  CHECK(detached == buffer && large == (MPI_Count)1 << 40);
  CHECK_OK(MPI_Comm_attach_buffer_c(MPI_COMM_SELF, buffer, (MPI_Count)1 << 40));
  CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_SELF, &detached, &size));
  CHECK_EQ(size, MPI_UNDEFINED);
  CHECK_CLASS(MPI_Buffer_attach(NULL, 10), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Buffer_attach_c(buffer, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_NULL, buffer, 10), MPI_ERR_COMM);
  CHECK_OK(MPI_Buffer_attach(buffer, 10));
  CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Buffer_detach(NULL, &size), MPI_ERR_ARG);
  CHECK_OK(MPI_Buffer_iflush(&request)); /* nothing in it */
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Buffer_detach(&detached, &size));
}
/* A session's buffer serves the communicators that come from it, directly or not, and no others; a communicator's own
 * comes first. Messages to oneself, too large to leave before they are received. */
static void test_session_buffer(void) {
  enum { kBytes = 300000 };
  MPI_Session session, other;
  MPI_Group group, part;
  MPI_Comm comm, dup, foreign, split;
  MPI_Request request;
  int size, flag = -1, self = 0;
  MPI_Count large;
  char *buffer = check_malloc(kBytes + MPI_BSEND_OVERHEAD), *out = check_malloc(kBytes),
       *in = check_malloc(kBytes), *detached = NULL, own[8 + MPI_BSEND_OVERHEAD];
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  CHECK_OK(MPI_Group_incl(group, 1, &self, &part)); /* what is made of a session's group is the session's */
  CHECK_OK(MPI_Comm_create_from_group(part, "buffer", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CHECK_OK(MPI_Group_free(&part));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_from_session_pset(other, "mpi://SELF", &group));
  CHECK_OK(MPI_Comm_create_from_group(group, "foreign", MPI_INFO_NULL, MPI_ERRORS_RETURN, &foreign));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  CHECK_OK(MPI_Comm_split(dup, 0, 0, &split));

  CHECK_CLASS(MPI_Bsend(out, 8, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Session_attach_buffer(session, buffer, kBytes + MPI_BSEND_OVERHEAD));
  CHECK_CLASS(MPI_Session_attach_buffer(session, buffer, 10), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Bsend(out, 8, MPI_BYTE, 0, 0, foreign), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Bsend(out, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
  pattern_fill(out, kBytes, 5);
  CHECK_OK(MPI_Bsend(out, kBytes, MPI_BYTE, 0, 1, split));
  memset(out, 0, kBytes);
  CHECK_CLASS(MPI_Bsend(out, kBytes, MPI_BYTE, 0, 1, comm), MPI_ERR_BUFFER); /* it is full */
  CHECK_OK(MPI_Comm_attach_buffer(comm, own, sizeof own));
  CHECK_OK(MPI_Bsend(out, 8, MPI_BYTE, 0, 2, comm)); /* comm's own */
  CHECK_OK(MPI_Session_iflush_buffer(session, &request));
  CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, 0, 1, split, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, kBytes, 5);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Session_flush_buffer(session));
  CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Session_detach_buffer(session, &detached, &size));
  CHECK(detached == buffer);
  CHECK_EQ(size, kBytes + MPI_BSEND_OVERHEAD);
  CHECK_CLASS(MPI_Session_flush_buffer(session), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Session_detach_buffer(session, &detached, &size), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Session_attach_buffer(session, NULL, 10), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_attach_buffer(MPI_SESSION_NULL, buffer, 10), MPI_ERR_SESSION);
  CHECK_OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(MPI_Session_detach_buffer_c(session, &detached, &large));
  CHECK((void*)detached == MPI_BUFFER_AUTOMATIC && large == 0);
  CHECK_OK(MPI_Comm_free(&split));
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free(&foreign));
  CHECK_OK(MPI_Session_attach_buffer(session, buffer, kBytes)); /* goes with the session */
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK_OK(MPI_Session_finalize(&other));
  free(buffer), free(out), free(in);
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_exchange();
  test_detach_delivers();
  test_strided();
  test_errors();
#ifdef MPI_ABI_VERSION
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_comm_buffer();
  test_iflush();
  test_large_attach();
  test_session_buffer();
#endif
  return check_end();
}
