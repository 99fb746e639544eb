/* Arguments that are wrong: every point-to-point call gives the standard's error class under
 * MPI_ERRORS_RETURN, and nothing happens. */
#include "check.h"

static MPI_Comm comm;
static int buffer[16];

/* The arguments that all sends share. `call(buf, count, type, dest, tag, comm)` is a send. */
#define CHECK_SEND(call)                                                          \
  do {                                                                            \
    CHECK_CLASS(call(buffer, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);            \
    CHECK_CLASS(call(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);    \
    CHECK_CLASS(call(buffer, 1, uncommitted, 0, 0, comm), MPI_ERR_TYPE);          \
    CHECK_CLASS(call(buffer, 1, MPI_INT, world_size, 0, comm), MPI_ERR_RANK);     \
    CHECK_CLASS(call(buffer, 1, MPI_INT, -77, 0, comm), MPI_ERR_RANK);            \
    CHECK_CLASS(call(buffer, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);              \
    CHECK_CLASS(call(buffer, 1, MPI_INT, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);     \
    CHECK_CLASS(call(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK); \
    CHECK_CLASS(call(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);     \
    if (strict) CHECK_CLASS(call(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);  \
  } while (0)

#define CHECK_RECEIVE(call)                                                      \
  do {                                                                           \
    CHECK_CLASS(call(buffer, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);           \
    CHECK_CLASS(call(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);   \
    CHECK_CLASS(call(buffer, 1, uncommitted, 0, 0, comm), MPI_ERR_TYPE);         \
    CHECK_CLASS(call(buffer, 1, MPI_INT, world_size, 0, comm), MPI_ERR_RANK);    \
    CHECK_CLASS(call(buffer, 1, MPI_INT, -77, 0, comm), MPI_ERR_RANK);           \
    CHECK_CLASS(call(buffer, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);             \
    CHECK_CLASS(call(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);    \
    if (strict) CHECK_CLASS(call(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER); \
  } while (0)

static MPI_Request request;
static MPI_Datatype uncommitted;
#ifdef MPI_ABI_VERSION
static const int strict = 1;
#else
static const int strict = 0;
#endif

#define RECV(b, n, t, r, g, c) MPI_Recv(b, n, t, r, g, c, MPI_STATUS_IGNORE)
#define ISEND(b, n, t, r, g, c) MPI_Isend(b, n, t, r, g, c, &request)
#define ISSEND(b, n, t, r, g, c) MPI_Issend(b, n, t, r, g, c, &request)
#define IBSEND(b, n, t, r, g, c) MPI_Ibsend(b, n, t, r, g, c, &request)
#define IRSEND(b, n, t, r, g, c) MPI_Irsend(b, n, t, r, g, c, &request)
#define IRECV(b, n, t, r, g, c) MPI_Irecv(b, n, t, r, g, c, &request)
#define SEND_INIT(b, n, t, r, g, c) MPI_Send_init(b, n, t, r, g, c, &request)
#define SSEND_INIT(b, n, t, r, g, c) MPI_Ssend_init(b, n, t, r, g, c, &request)
#define BSEND_INIT(b, n, t, r, g, c) MPI_Bsend_init(b, n, t, r, g, c, &request)
#define RSEND_INIT(b, n, t, r, g, c) MPI_Rsend_init(b, n, t, r, g, c, &request)
#define RECV_INIT(b, n, t, r, g, c) MPI_Recv_init(b, n, t, r, g, c, &request)
#define SENDRECV_SEND(b, n, t, r, g, c) \
  MPI_Sendrecv(b, n, t, r, g, buffer + 8, 1, MPI_INT, MPI_PROC_NULL, 0, c, MPI_STATUS_IGNORE)
#define SENDRECV_RECV(b, n, t, r, g, c) \
  MPI_Sendrecv(buffer + 8, 1, MPI_INT, MPI_PROC_NULL, 0, b, n, t, r, g, c, MPI_STATUS_IGNORE)

static void test_transfers(void) {
  CHECK_SEND(MPI_Send);
  CHECK_SEND(MPI_Ssend);
  CHECK_SEND(MPI_Rsend);
  CHECK_SEND(MPI_Bsend);
  CHECK_SEND(ISEND);
  CHECK_SEND(ISSEND);
  CHECK_SEND(IRSEND);
  CHECK_SEND(IBSEND);
  CHECK_SEND(SEND_INIT);
  CHECK_SEND(SSEND_INIT);
  CHECK_SEND(RSEND_INIT);
  CHECK_SEND(BSEND_INIT);
  CHECK_SEND(SENDRECV_SEND);
  CHECK_RECEIVE(RECV);
  CHECK_RECEIVE(IRECV);
  CHECK_RECEIVE(RECV_INIT);
  CHECK_RECEIVE(SENDRECV_RECV);
}

static void test_probes(void) {
  int flag;
  MPI_Message message;
  MPI_Status status;
  CHECK_CLASS(MPI_Probe(world_size, 0, comm, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Probe(0, -5, comm, &status), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Probe(0, 0, MPI_COMM_NULL, &status), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Iprobe(world_size, 0, comm, &flag, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Iprobe(0, -5, comm, &flag, &status), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Mprobe(world_size, 0, comm, &message, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Mprobe(0, -5, comm, &message, &status), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Improbe(world_size, 0, comm, &flag, &message, &status), MPI_ERR_RANK);
  if (strict) {
    message = MPI_MESSAGE_NULL;
    CHECK_CLASS(MPI_Mrecv(buffer, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(buffer, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
    message = (MPI_Message)comm; /* a handle of another kind */
    CHECK_CLASS(MPI_Mrecv(buffer, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(buffer, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
    /* One that has been received, and others that lie where it lay. */
    MPI_Message first, second;
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, world_rank, 9, MPI_COMM_WORLD));
    CHECK_OK(MPI_Mprobe(world_rank, 9, MPI_COMM_WORLD, &message, &status));
    first = message;
    CHECK_OK(MPI_Mrecv(buffer, 1, MPI_INT, &message, &status));
    CHECK_OK(MPI_Mprobe(world_rank, 9, MPI_COMM_WORLD, &second, &status));
    if (first != second) CHECK_CLASS(MPI_Mrecv(buffer, 1, MPI_INT, &first, &status), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Mrecv(buffer, 1, MPI_INT, &second, &status));
    CHECK_CLASS(MPI_Mrecv(buffer, 1, MPI_INT, &first, &status), MPI_ERR_REQUEST);
  }
}

static void test_requests(void) {
  int flag, index, count, indices[2];
  MPI_Status status;
  request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  if (!strict) return;
  MPI_Request list[1] = {MPI_REQUEST_NULL};
  CHECK_CLASS(MPI_Waitall(-1, list, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Waitany(-1, list, &index, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Testall(-1, list, &flag, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Testany(-1, list, &index, &flag, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Waitsome(-1, list, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Testsome(-1, list, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Startall(-1, list), MPI_ERR_COUNT);
  /* Started twice: the first start is still active. */
  CHECK_OK(MPI_Recv_init(buffer, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Start(&request));
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Irecv(buffer, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &request));
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST); /* not a persistent one */
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
}

/* Nothing of the above has sent anything, and correct calls work. */
static void test_nothing_happened(void) {
  int flag = 1, value = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_OK(MPI_Isend(&world_rank, 1, MPI_INT, world_rank, 0, comm, &request));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, world_rank, 0, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(value, world_rank);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &uncommitted));
  test_transfers();
  test_probes();
  test_requests();
  test_nothing_happened();
  CHECK_OK(MPI_Type_free(&uncommitted));
  CHECK_OK(MPI_Comm_free(&comm));
  return check_end();
}
