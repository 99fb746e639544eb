/* Wrong arguments of nonblocking and persistent collectives, and errors that are found later: each gives its
 * error class, under MPI_ERRORS_RETURN. MPI report, 6.12, 6.13 and 9.4. */
#include "check.h"

static MPI_Comm comm; /* like MPI_COMM_SELF, so that nobody else waits */
static int in[4], out[4], counts[1] = {1}, displs[1];
static MPI_Request request;

static void test_nonblocking(void) {
  MPI_Datatype uncommitted;
  static const int negative[1] = {-1};
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
  CHECK_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Ibcast(in, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ibcast(in, 1, MPI_INT, 1, comm, &request), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Ibcast(in, 1, uncommitted, 0, comm, &request), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, 0, comm, &request), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Igatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iscatter(in, 1, MPI_INT, out, 1, MPI_INT, 7, comm, &request), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Iscatterv(in, negative, displs, MPI_INT, out, 1, MPI_INT, 0, comm, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iallgather(in, -2, MPI_INT, out, 1, MPI_INT, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iallgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ialltoall(in, 1, MPI_INT, out, -1, MPI_INT, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ialltoallv(in, counts, displs, MPI_INT, out, negative, displs, MPI_INT, comm, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(
      MPI_Ialltoallw(in, counts, displs, &uncommitted, out, counts, displs, &uncommitted, comm, &request),
      MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Ireduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Ireduce_scatter(in, out, negative, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ireduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iscan(in, out, -1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iexscan(in, out, 1, MPI_INT, MPI_OP_NULL, comm, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Ibarrier(comm, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Type_free(&uncommitted));
}

static void test_persistent(void) {
  const MPI_Info none = MPI_INFO_NULL;
  CHECK_CLASS(MPI_Barrier_init(MPI_COMM_NULL, none, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast_init(in, 1, MPI_INT, -1, comm, none, &request), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Gather_init(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm, none, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoall_init(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm, none, &request),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_OP_NULL, comm, none, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comm, none, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Scan_init_c(in, out, -1, MPI_INT, MPI_SUM, comm, none, &request), MPI_ERR_COUNT);
}

/* What is found during the operation comes out where it is waited for; what follows is not disturbed. */
static void test_late_errors(void) {
  int flag = 0, one = 1, sum = 0;
  CHECK_OK(MPI_Iallgather(in, 4, MPI_INT, out, 1, MPI_INT, comm, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_OK(MPI_Ialltoall(in, 4, MPI_INT, out, 2, MPI_INT, comm, &request));
  MPI_Status status;
  CHECK_CLASS(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
  CHECK_EQ(class_of(status.MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Allgather_init(in, 4, MPI_INT, out, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(MPI_Start(&request));
    CHECK_CLASS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(flag && request != MPI_REQUEST_NULL);
  }
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(sum, world_size);
}

static void test_requests(void) {
  MPI_Request barrier;
  CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
  CHECK_CLASS(MPI_Cancel(&barrier), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Ibarrier(comm, &barrier));
  CHECK_CLASS(MPI_Start(&barrier), MPI_ERR_REQUEST); /* not a persistent one */
  CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier));
  CHECK_OK(MPI_Start(&barrier));
  CHECK_CLASS(MPI_Start(&barrier), MPI_ERR_REQUEST); /* started already */
  CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&barrier));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  test_nonblocking();
  test_persistent();
  test_late_errors();
  test_requests();
  CHECK_OK(MPI_Comm_free(&comm));
  return check_end();
}
