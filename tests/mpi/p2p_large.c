/* The large-count forms of point-to-point communication: every call once with data, counts beyond an int with
 * a type that has no data, and wrong arguments. MPI report, 2.5.8. */
#include "check.h"

#ifdef MPI_ABI_VERSION
static const MPI_Count kHuge = (MPI_Count)5 << 32;

static void check_received(const int* in, int from, const MPI_Status* status, int tag) {
  MPI_Count count;
  CHECK_OK(MPI_Get_count_c(status, MPI_INT, &count));
  CHECK_EQ(count, 4);
  CHECK(status->MPI_SOURCE == from && status->MPI_TAG == tag);
  for (int i = 0; i < 4; i++) CHECK_EQ(in[i], from * 10 + i);
}

static void test_blocking(int right, int left) {
  int out[4], in[4];
  char buffer[1000], *detached;
  MPI_Count size;
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  for (int i = 0; i < 4; i++) out[i] = world_rank * 10 + i;
  CHECK_OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
  for (int mode = 0; mode < 4; mode++) {
    CHECK_OK(MPI_Irecv_c(in, 4, MPI_INT, left, mode, MPI_COMM_WORLD, &request));
    MPI_Barrier(MPI_COMM_WORLD); /* for the ready send */
    switch (mode) {
      case 0:
        CHECK_OK(MPI_Send_c(out, 4, MPI_INT, right, mode, MPI_COMM_WORLD));
        break;
      case 1:
        CHECK_OK(MPI_Ssend_c(out, 4, MPI_INT, right, mode, MPI_COMM_WORLD));
        break;
      case 2:
        CHECK_OK(MPI_Rsend_c(out, 4, MPI_INT, right, mode, MPI_COMM_WORLD));
        break;
      default:
        CHECK_OK(MPI_Bsend_c(out, 4, MPI_INT, right, mode, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Wait(&request, &status));
    check_received(in, left, &status, mode);
  }
  CHECK_OK(MPI_Send_c(out, 4, MPI_INT, right, 9, MPI_COMM_WORLD));
  CHECK_OK(MPI_Recv_c(in, 4, MPI_INT, left, 9, MPI_COMM_WORLD, &status));
  check_received(in, left, &status, 9);
  CHECK_OK(MPI_Sendrecv_c(out, 4, MPI_INT, right, 1, in, 4, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  check_received(in, left, &status, 1);
  memcpy(in, out, sizeof in);
  CHECK_OK(MPI_Sendrecv_replace_c(in, 4, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status));
  check_received(in, left, &status, 2);
  for (int immediate = 0; immediate < 2; immediate++) {
    CHECK_OK(MPI_Isend_c(out, 4, MPI_INT, right, 3, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Mprobe(left, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    if (immediate) {
      MPI_Request receive;
      CHECK_OK(MPI_Imrecv_c(in, 4, MPI_INT, &message, &receive));
      CHECK_OK(MPI_Wait(&receive, &status));
    } else {
      CHECK_OK(MPI_Mrecv_c(in, 4, MPI_INT, &message, &status));
    }
    check_received(in, left, &status, 3);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Buffer_detach_c(&detached, &size));
  CHECK_EQ(size, sizeof buffer);
}

typedef int Start(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void test_nonblocking(int right, int left) {
  int out[4], in[4];
  char buffer[1000], *detached;
  MPI_Count size;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  Start* const starts[] = {MPI_Isend_c, MPI_Issend_c, MPI_Irsend_c, MPI_Ibsend_c};
  Start* const inits[] = {MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c};
  for (int i = 0; i < 4; i++) out[i] = world_rank * 10 + i;
  CHECK_OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
  for (int mode = 0; mode < 4; mode++) {
    CHECK_OK(MPI_Irecv_c(in, 4, MPI_INT, left, mode, MPI_COMM_WORLD, &requests[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(starts[mode](out, 4, MPI_INT, right, mode, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    check_received(in, left, &statuses[1], mode);
    CHECK_OK(inits[mode](out, 4, MPI_INT, right, mode, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_init_c(in, 4, MPI_INT, left, mode, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 2; round++) {
      memset(in, 0, sizeof in);
      CHECK_OK(MPI_Start(&requests[1]));
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Start(&requests[0]));
      CHECK_OK(MPI_Waitall(2, requests, statuses));
      check_received(in, left, &statuses[1], mode);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
  }
  CHECK_OK(MPI_Isendrecv_c(out, 4, MPI_INT, right, 5, in, 4, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &statuses[0]));
  check_received(in, left, &statuses[0], 5);
  memcpy(in, out, sizeof in);
  CHECK_OK(MPI_Isendrecv_replace_c(in, 4, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &statuses[0]));
  check_received(in, left, &statuses[0], 6);
  CHECK_OK(MPI_Buffer_detach_c(&detached, &size));
}

/* 5 * 2^32 elements without data: the count is not cut to 32 bits on the way, and a receive of 8 times as
 * many bytes as there is memory is fine as long as the message is small. */
static void test_huge_counts(int right, int left) {
  int out = world_rank, in = -1;
  MPI_Datatype nothing;
  MPI_Status status;
  MPI_Count count;
  CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  CHECK_OK(MPI_Type_commit(&nothing));
  CHECK_OK(
      MPI_Sendrecv_c(&out, kHuge, nothing, right, 1, &in, kHuge, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
  CHECK(count == 0 && in == -1);
  CHECK_OK(MPI_Sendrecv_c(&out, 1, MPI_INT, right, 1, &in, kHuge, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  CHECK_EQ(in, left);
  CHECK_OK(MPI_Type_free(&nothing));
}

static void add(void* in, void* inout, MPI_Count* n, MPI_Datatype* type) {
  CHECK(*type == MPI_INT);
  for (MPI_Count i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static void test_operators(void) {
  int a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
  MPI_Op op;
  CHECK_OK(MPI_Op_create_c(add, 1, &op));
  CHECK_OK(MPI_Reduce_local_c(a, b, 3, MPI_INT, op));
  CHECK(b[0] == 11 && b[2] == 33);
  CHECK_OK(MPI_Reduce_local(a, b, 3, MPI_INT, op));
  CHECK(b[0] == 12 && b[2] == 36);
  CHECK_OK(MPI_Op_free(&op));
  CHECK_CLASS(MPI_Op_create_c(NULL, 1, &op), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Op_create_c(add, 1, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Reduce_local_c(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Reduce_local_c(a, b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
}

/* More bytes, or more memory from the first element to the last, than 64 bits count: modulo 2^64 these are few or none. */
static void test_wraps(void) {
  const MPI_Count quarter = (MPI_Count)1 << 62;
  int value[4] = {0}, size;
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  MPI_Datatype wide;
  MPI_Count bytes, position = 0;
  CHECK_CLASS(MPI_Send_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ssend_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Rsend_c(value, quarter + 1, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Bsend_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Recv_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isend_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Irecv_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ibsend_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Send_init_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Recv_init_c(value, quarter, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Sendrecv_replace_c(value, quarter, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, &status),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Psend_init_c(value, 4, quarter, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Pack_c(value, quarter, MPI_INT, value, sizeof value, &position, MPI_COMM_SELF),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Unpack_c(value, sizeof value, &position, value, quarter, MPI_INT, MPI_COMM_SELF),
              MPI_ERR_COUNT);
  CHECK_OK(MPI_Pack_size_c(quarter, MPI_INT, MPI_COMM_SELF, &bytes));
  CHECK_EQ(bytes, MPI_UNDEFINED);
  CHECK_CLASS(MPI_Reduce_local_c(value, value + 1, quarter, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Status_set_elements_c(&status, MPI_DOUBLE, quarter), MPI_ERR_COUNT);
  /* Few bytes, far apart. */
  CHECK_OK(MPI_Type_create_resized_c(MPI_INT, 0, quarter, &wide));
  CHECK_OK(MPI_Type_commit(&wide));
  CHECK_CLASS(MPI_Send_c(value, 4, wide, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Recv_c(value, 5, wide, 0, 1, MPI_COMM_SELF, &status), MPI_ERR_COUNT);
  CHECK_OK(MPI_Isend_c(value, 1, wide, 0, 1, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, &status));
  CHECK_CLASS(MPI_Mrecv_c(value + 1, quarter, MPI_INT, &message, &status), MPI_ERR_COUNT);
  CHECK_OK(MPI_Mrecv_c(value + 1, 1, MPI_INT, &message, &status));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Type_free(&wide));
  CHECK_OK(MPI_Type_size(MPI_INT, &size));
  CHECK_EQ(size, 4);
}

static void test_errors(void) {
  int value = 0;
  MPI_Request request;
  MPI_Message message = MPI_MESSAGE_NULL;
  CHECK_CLASS(MPI_Send_c(&value, -kHuge, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Recv_c(&value, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isend_c(&value, 1, MPI_INT, world_size, 1, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Irecv_c(&value, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send_init_c(&value, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Recv_init_c(NULL, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Mrecv_c(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Imrecv_c(&value, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Imrecv_c(&value, 1, MPI_INT, NULL, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Bsend_c(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER); /* none is attached */
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
#ifdef MPI_ABI_VERSION
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_blocking(right, left);
  test_nonblocking(right, left);
  test_huge_counts(right, left);
  test_operators();
  test_wraps();
  test_errors();
#endif
  return check_end();
}
