/* Statuses: counts and elements, MPI_PROC_NULL, partial types, truncation by every receive form under
 * MPI_ERRORS_RETURN, errors in lists of requests. */
#include "check.h"

static MPI_Comm comm; /* MPI_COMM_SELF with errors returned */

static void test_counts(void) {
  double out[10] = {0}, in[20];
  int count = -1;
  MPI_Status status;
  MPI_Datatype pair;
  MPI_Request request;
  CHECK_OK(MPI_Isend(out, 5, MPI_DOUBLE, 0, 1, comm, &request));
  CHECK_OK(MPI_Recv(in, 20, MPI_DOUBLE, 0, 1, comm, &status));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK_EQ(count, 5);
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, 40);
  CHECK_OK(MPI_Type_contiguous(2, MPI_DOUBLE, &pair));
  CHECK_OK(MPI_Type_commit(&pair));
  CHECK_OK(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, MPI_UNDEFINED); /* two pairs and a half */
  CHECK_OK(MPI_Get_elements(&status, pair, &count));
  CHECK_EQ(count, 5);
  CHECK_OK(MPI_Get_elements(&status, MPI_DOUBLE, &count));
  CHECK_EQ(count, 5);
  CHECK_OK(MPI_Isend(out, 6, MPI_DOUBLE, 0, 1, comm, &request));
  CHECK_OK(MPI_Recv(in, 10, pair, 0, 1, comm, &status));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, 3);
  CHECK_OK(MPI_Type_free(&pair));
}

static void test_null_process(void) {
  int value = 9, count = -1, flag = 0;
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
  CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
  CHECK_OK(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
  CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
  CHECK_EQ(value, 9);
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  CHECK_OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &request));
  CHECK_OK(MPI_Test(&request, &flag, &status));
  CHECK(flag);
#ifndef MPICH_VERSION /* MPICH 4.0 leaves the status as it was */
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
#endif
}

/* A message longer than the receive: the error, what fits, and not a byte more. */
static void test_truncation(int bytes, int room, int unexpected) {
  unsigned char *out = check_malloc((size_t)bytes), *in = check_malloc((size_t)bytes);
  MPI_Request send, receive;
  MPI_Status status;
  pattern_fill(out, (size_t)bytes, 3);
  memset(in, 0xee, (size_t)bytes);
  if (unexpected) {
    CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, 0, 2, comm, &send));
    CHECK_CLASS(MPI_Recv(in, room, MPI_BYTE, 0, 2, comm, &status), MPI_ERR_TRUNCATE);
  } else {
    CHECK_OK(MPI_Irecv(in, room, MPI_BYTE, 0, 2, comm, &receive));
    CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, 0, 2, comm, &send));
    CHECK_CLASS(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE);
    CHECK(receive == MPI_REQUEST_NULL);
  }
  CHECK_EQ(status.MPI_SOURCE, 0);
  CHECK_EQ(status.MPI_TAG, 2);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE)); /* the sender does not notice */
  for (int i = room; i < bytes; i++) CHECK_EQ(in[i], 0xee);
  /* The communicator still works. */
  CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, 0, 2, comm, &send));
  CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, 0, 2, comm, &status));
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, (size_t)bytes, 3);
  free(out);
  free(in);
}

/* One of several fails: MPI_ERR_IN_STATUS, and each status says how its request went. */
static void test_error_in_status(int use_test) {
  int out[8] = {0}, in[4][8], count, indices[4], flag = 0;
  MPI_Request requests[4], sends[4];
  MPI_Status statuses[4];
  for (int i = 0; i < 4; i++) {
    CHECK_OK(MPI_Irecv(in[i], i == 2 ? 4 : 8, MPI_INT, 0, i, comm, &requests[i]));
    CHECK_OK(MPI_Isend(out, 8, MPI_INT, 0, i, comm, &sends[i]));
  }
  CHECK_OK(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));
  int code = MPI_SUCCESS;
  if (use_test) {
    while (!flag && code == MPI_SUCCESS) code = MPI_Testall(4, requests, &flag, statuses);
  } else {
    code = MPI_Waitall(4, requests, statuses);
  }
  CHECK_CLASS(code, MPI_ERR_IN_STATUS);
  for (int i = 0; i < 4; i++) {
    int got = class_of(statuses[i].MPI_ERROR);
    if (i == 2) {
      CHECK_EQ(got, MPI_ERR_TRUNCATE);
    } else if (got == MPI_ERR_PENDING) { /* neither failed nor completed: still to be waited for */
      CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    } else {
      CHECK_EQ(got, MPI_SUCCESS);
    }
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  CHECK_OK(MPI_Irecv(in[0], 4, MPI_INT, 0, 0, comm, &requests[0]));
  CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, comm));
  CHECK_CLASS(MPI_Waitsome(1, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(count, 1);
  CHECK_EQ(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK(requests[0] == MPI_REQUEST_NULL);
  CHECK_OK(MPI_Irecv(in[0], 4, MPI_INT, 0, 0, comm, &requests[0]));
  CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, comm));
  CHECK_CLASS(MPI_Waitany(1, requests, &count, statuses), MPI_ERR_TRUNCATE);
  CHECK_EQ(count, 0);
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

/* Between two ranks: the handler of the receiving rank decides, the sender goes on. */
static void test_truncation_between_ranks(void) {
  MPI_Comm world;
  static char buffer[100000];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
  if (world_rank == 0 && world_size > 1) {
    CHECK_OK(MPI_Send(buffer, 100, MPI_BYTE, 1, 0, world));
    CHECK_OK(MPI_Send(buffer, 100000, MPI_BYTE, 1, 1, world));
    CHECK_OK(MPI_Send(buffer, 10, MPI_BYTE, 1, 2, world));
  } else if (world_rank == 1) {
    CHECK_CLASS(MPI_Recv(buffer, 99, MPI_BYTE, 0, 0, world, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Recv(buffer, 99999, MPI_BYTE, 0, 1, world, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Recv(buffer, 10, MPI_BYTE, 0, 2, world, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Comm_free(&world));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  /* Which communicator's handler gets an error of a list of requests is up to the library. */
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  test_counts();
  test_null_process();
  for (int unexpected = 0; unexpected < 2; unexpected++) {
    test_truncation(16, 8, unexpected);
    test_truncation(16, 0, unexpected);
    test_truncation(5000, 4999, unexpected);
    test_truncation(300000, 1000, unexpected);
  }
  test_error_in_status(0);
  test_error_in_status(1);
  test_truncation_between_ranks();
  CHECK_OK(MPI_Comm_free(&comm));
  return check_end();
}
