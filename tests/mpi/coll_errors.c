/* Wrong arguments of collectives: the standard's error class on the rank that gave them, before any
 * communication. All on MPI_COMM_SELF or with the same mistake on all ranks. */
#include "check.h"

static int in[64], out[64], counts[4], displs[4];
static MPI_Comm comm;

static void test_counts(void) {
  CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Reduce(in, out, -1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoall(in, -1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Scan(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Exscan(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Reduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  counts[0] = -1;
  CHECK_CLASS(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Gatherv(in, -1, MPI_INT, out, counts, displs, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Allgatherv(in, -1, MPI_INT, out, counts, displs, MPI_INT, comm), MPI_ERR_COUNT);
  counts[0] = 0;
}

#ifdef MPI_ABI_VERSION
/* More bytes than 64 bits count, of one member or of all together: modulo 2^64 these are none. */
static void test_wraps(void) {
  const MPI_Count quarter = (MPI_Count)1 << 62, half = (MPI_Count)1 << 60;
  int size;
  MPI_Comm_size(comm, &size);
  CHECK_CLASS(MPI_Bcast_c(in, quarter, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Allreduce_c(in, out, quarter, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Reduce_c(in, out, quarter, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Scan_c(in, out, quarter, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Gather_c(in, quarter, MPI_INT, out, quarter, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoall_c(in, quarter, MPI_INT, out, quarter, MPI_INT, comm), MPI_ERR_COUNT);
  if (size > 1) { /* each fits */
    CHECK_CLASS(MPI_Gather_c(in, half, MPI_INT, out, half, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scatter_c(in, half, MPI_INT, out, half, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgather_c(in, half, MPI_INT, out, half, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall_c(in, half, MPI_INT, out, half, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter_block_c(in, out, half, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  }
  MPI_Count many[64], none[64];
  MPI_Aint places[64], far[64];
  MPI_Datatype ints[64];
  for (int i = 0; i < 64; i++)
    many[i] = quarter, none[i] = 1, places[i] = 0, far[i] = quarter, ints[i] = MPI_INT;
  CHECK_CLASS(MPI_Reduce_scatter_c(in, out, many, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoallv_c(in, many, places, MPI_INT, out, many, places, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoallw_c(in, many, places, ints, out, many, places, ints, comm), MPI_ERR_COUNT);
  if (size > 1) { /* what the rank sends to itself fits */
    int rank;
    MPI_Comm_rank(comm, &rank);
    many[rank] = 1;
    CHECK_CLASS(MPI_Allgatherv_c(in, 1, MPI_INT, out, many, places, MPI_INT, comm), MPI_ERR_COUNT);
  }
  CHECK_CLASS(MPI_Allgatherv_c(in, 1, MPI_INT, out, none, far, MPI_INT, comm), MPI_ERR_ARG);
}
#endif

static void test_types(void) {
  MPI_Datatype raw;
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &raw));
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(in, 1, raw, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_free(&raw));
}

static void test_roots(void) {
  static const int wrong[] = {1, -1, 100000, MPI_PROC_NULL};
  for (int i = 0; i < 4; i++) {
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, wrong[i], comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, wrong[i], comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, wrong[i], comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, wrong[i], comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, wrong[i], comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Scatterv(in, counts, displs, MPI_INT, out, 1, MPI_INT, wrong[i], comm), MPI_ERR_ROOT);
  }
}

static void test_comms_and_ops(void) {
  MPI_Op op = MPI_OP_NULL;
  CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Scan(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
#ifdef MPI_ABI_VERSION
  op = MPI_SUM;
  CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
#endif
}

#ifdef MPI_ABI_VERSION
static void test_buffers(void) {
  CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(in, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER); /* aliased */
  CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Gather(NULL, 1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
}
#endif

static void test_still_works(void) {
  int one = 1, sum = 0;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, 1);
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, world_size);
  CHECK_OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  test_counts();
#ifdef MPI_ABI_VERSION
  test_wraps();
#endif
  test_types();
  test_roots();
  test_comms_and_ops();
#ifdef MPI_ABI_VERSION
  test_buffers();
#endif
  test_still_works();
  CHECK_OK(MPI_Comm_free(&comm));
  return check_end();
}
