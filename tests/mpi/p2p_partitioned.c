/* Partitioned point-to-point communication: different partitions on both sides, any order of readiness,
 * partitions that arrive before the others are ready, derived types, rounds, matching in the order of
 * initialization. MPI report, chapter 4. */
#include <sys/mman.h>

#include "check.h"

enum { kElements = 2400 };

static int right, left;

/* One ring with `out` partitions on the sending and `in` on the receiving side, several rounds. */
static void test_ring(int out, int in, int late_receiver) {
  int *send = check_malloc(kElements * sizeof(int)), *recv = check_malloc(kElements * sizeof(int)), flag,
      count;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  memset(send, 0, kElements * sizeof(int));
  CHECK_OK(MPI_Psend_init(send, out, kElements / out, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[0]));
  CHECK_OK(MPI_Precv_init(recv, in, kElements / in, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[1]));
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < kElements; i++) send[i] = world_rank * 100000 + round * 10000 + i, recv[i] = -1;
    if (!late_receiver) CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Start(&requests[0]));
    if (round % 2 == 0) {
      for (int p = 0; p < out; p++)
        CHECK_OK(MPI_Pready((p * 7 + 3) % out, requests[0])); /* 7 divides no `out` */
    } else {
      if (out > 1) CHECK_OK(MPI_Pready_range(1, out - 1, requests[0]));
      CHECK_OK(MPI_Pready_list(1, (int[]){0}, requests[0]));
    }
    if (late_receiver) CHECK_OK(MPI_Start(&requests[1]));
    for (int p = 0; p < in; p++) {
      do {
        CHECK_OK(MPI_Parrived(requests[1], p, &flag));
      } while (!flag);
      int unit = kElements / in;
      for (int i = p * unit; i < (p + 1) * unit; i++) CHECK_EQ(recv[i], left * 100000 + round * 10000 + i);
    }
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
    CHECK_EQ(count, kElements);
    CHECK(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == 1);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Parrived(requests[1], 0, &flag)); /* inactive */
    CHECK(flag);
  }
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
  free(send), free(recv);
}

/* A partition arrives while others are not ready: the last one waits for word from the receiver. */
static void test_early(void) {
  int send[4] = {1, 2, 3, 4}, recv[4] = {0}, flag = 0, token = 0;
  MPI_Request requests[2], word;
  CHECK_OK(MPI_Psend_init(send, 4, 1, MPI_INT, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(recv, 2, 2, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  CHECK_OK(MPI_Startall(2, requests));
  CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &word));
  CHECK_OK(MPI_Pready_range(2, 3, requests[0]));
  while (!flag) CHECK_OK(MPI_Parrived(requests[1], 1, &flag));
  CHECK(recv[2] == 3 && recv[3] == 4);
  CHECK_OK(MPI_Parrived(requests[1], 0, &flag));
  CHECK(!flag); /* its sender has not got my word yet */
  CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, left, 3, MPI_COMM_WORLD));
  CHECK_OK(MPI_Wait(&word, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Pready_list(2, (int[]){1, 0}, requests[0]));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK(recv[0] == 1 && recv[1] == 2);
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
}

/* Columns on one side, a contiguous buffer or other columns on the other. */
static void test_derived(int both) {
  enum { kSide = 60 };
  static int from[kSide * kSide], to[kSide * kSide];
  MPI_Datatype column, resized;
  MPI_Request requests[2];
  MPI_Type_vector(kSide, 1, kSide, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &resized);
  CHECK_OK(MPI_Type_commit(&resized));
  for (int i = 0; i < kSide * kSide; i++) from[i] = world_rank + i, to[i] = -1;
  CHECK_OK(MPI_Psend_init(from, 6, 10, resized, right, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  if (both)
    CHECK_OK(MPI_Precv_init(to, 5, 12, resized, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  else
    CHECK_OK(
        MPI_Precv_init(to, 5, 12 * kSide, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  MPI_Type_free(&column), MPI_Type_free(&resized); /* the requests hold what they need */
  CHECK_OK(MPI_Startall(2, requests));
  for (int p = 5; p >= 0; p--) CHECK_OK(MPI_Pready(p, requests[0]));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int r = 0; r < kSide; r++)
    for (int c = 0; c < kSide; c++) CHECK_EQ(to[both ? r * kSide + c : c * kSide + r], left + r * kSide + c);
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
}

/* Two pairs with equal envelopes match in the order of their initialization, whenever they are started; an
 * ordinary message with the same envelope matches neither. */
static void test_order(void) {
  int send[2] = {10 + world_rank, 20 + world_rank}, recv[2] = {0}, plain = 30 + world_rank, got = -1;
  MPI_Request sends[2], recvs[2];
  for (int i = 0; i < 2; i++)
    CHECK_OK(MPI_Psend_init(&send[i], 1, 1, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; i++)
    CHECK_OK(MPI_Precv_init(&recv[i], 1, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[i]));
  CHECK_OK(MPI_Start(&recvs[1]));
  CHECK_OK(MPI_Start(&sends[1]));
  CHECK_OK(MPI_Start(&recvs[0]));
  CHECK_OK(MPI_Start(&sends[0]));
  CHECK_OK(MPI_Pready(0, sends[1]));
  CHECK_OK(MPI_Pready(0, sends[0]));
  CHECK_OK(MPI_Sendrecv(&plain, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Waitall(2, recvs, MPI_STATUSES_IGNORE));
  CHECK(recv[0] == 10 + left && recv[1] == 20 + left && got == 30 + left);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(MPI_Request_free(&sends[i]));
    CHECK_OK(MPI_Request_free(&recvs[i]));
  }
}

/* Who has been told by MPI_Parrived that all is there is told so by MPI_Test, too. */
static void test_arrived_is_complete(void) {
  enum { kParts = 4, kRounds = 2000 };
  int send[kParts], recv[kParts], flag;
  MPI_Request requests[2];
  CHECK_OK(MPI_Psend_init(send, kParts, 1, MPI_INT, right, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(recv, kParts, 1, MPI_INT, left, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < kRounds; round++) {
    for (int p = 0; p < kParts; p++) send[p] = round + p, recv[p] = -1;
    CHECK_OK(MPI_Startall(2, requests));
    for (int p = 0; p < kParts; p++) CHECK_OK(MPI_Pready(p, requests[0]));
    for (int p = 0; p < kParts; p += flag) CHECK_OK(MPI_Parrived(requests[1], p, &flag));
    for (int p = 0; p < kParts; p++) CHECK_EQ(recv[p], round + p);
    CHECK_OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
}

#ifdef MPI_ABI_VERSION
static void test_edges(void) {
  int values[4] = {1, 2, 3, 4}, in[4] = {0}, flag = 0;
  MPI_Request request, other, plain;
  MPI_Status status;
  CHECK_OK(MPI_Psend_init(values, 2, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Start(&request));
  CHECK_OK(MPI_Pready_range(0, 1, request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Start(&request));
  CHECK_OK(MPI_Parrived(request, 1, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_OK(MPI_Request_free(&request));
  /* No partitions, no data. */
  CHECK_OK(MPI_Psend_init(values, 0, 2, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Precv_init(in, 1, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &other));
  CHECK_OK(MPI_Start(&request));
  CHECK_OK(MPI_Start(&other));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Wait(&other, &status));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Request_free(&other));
  /* The receiver has less room. */
  CHECK_OK(MPI_Psend_init_c(values, 2, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Precv_init_c(in, 3, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &other));
  CHECK_OK(MPI_Start(&request));
  CHECK_OK(MPI_Start(&other));
  CHECK_CLASS(MPI_Pready(2, request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(-1, request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_range(1, 0, request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_list(-1, NULL, request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Pready_list(1, NULL, request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(0, other), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(other, 3, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Parrived(other, 0, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Pready(0, request));
  CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_ARG);
  CHECK_OK(MPI_Pready(1, request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_CLASS(MPI_Wait(&other, &status), MPI_ERR_TRUNCATE);
  CHECK(in[0] == 1 && in[2] == 3 && in[3] == 0);
  CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST); /* inactive */
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Request_free(&other));
  /* Never matched: freed on either side. */
  CHECK_OK(MPI_Psend_init(values, 2, 2, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_CLASS(MPI_Psend_init(values, -1, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Psend_init(values, 1, -2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Psend_init(values, 1, 2, MPI_INT, 1, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_RANK);
  CHECK_CLASS(MPI_Psend_init(values, 1, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Precv_init(in, 1, 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_RANK);
  CHECK_CLASS(MPI_Precv_init(in, 1, 2, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &request),
              MPI_ERR_TAG);
  CHECK_OK(MPI_Irecv(in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &plain));
  CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Cancel(&plain));
  CHECK_OK(MPI_Wait(&plain, &status));
  CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  CHECK(flag);
}
#endif

#if defined(MPI_ABI_VERSION) && defined(__x86_64__)
/* Callers to whom the count is MPI_Count, as some headers have it, and those to whom it is an int, who leave the rest of
 * the register as it is: what is no int is a count if there is memory for so much. */
typedef int (*Psend)(const void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*);
typedef int (*Precv)(void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*);

/* By variables: compilers refuse to call a function that they see by another type. */
static void* volatile psend_init = (void*)MPI_Psend_init;
static void* volatile precv_init = (void*)MPI_Precv_init;

static void exchange_as(MPI_Count send_word, MPI_Count recv_word) {
  int send[6] = {1, 2, 3, 4, 5, 6}, recv[6] = {0}, count = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  CHECK_OK(((Psend)psend_init)(send, 2, send_word, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &requests[0]));
  CHECK_OK(
      ((Precv)precv_init)(recv, 2, recv_word, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  CHECK_OK(MPI_Startall(2, requests));
  CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
  CHECK_OK(MPI_Waitall(2, requests, statuses));
  CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
  CHECK_EQ(count, 6);
  CHECK(memcmp(send, recv, sizeof send) == 0);
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
}

static void test_either_count(void) {
  const MPI_Count above = (MPI_Count)0x7a5a1234 << 32;
  exchange_as(3, 3);
  exchange_as(above | 3, 3);
  exchange_as(3, above | 3);
  MPI_Request request;
  int data = 0;
  CHECK_CLASS(
      ((Psend)psend_init)(&data, 1, 0xffffffff, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      MPI_ERR_COUNT); /* -1 in half a register */
  /* So much memory that the count is one: made and freed only. */
  const MPI_Count many = ((MPI_Count)1 << 32) + 5;
  char* const large =
      mmap(NULL, (size_t)many, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (large == MAP_FAILED) return;
  CHECK_OK(((Psend)psend_init)(large, 1, many, MPI_CHAR, 0, 8, MPI_COMM_SELF, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Request_free(&request));
  munmap(large, (size_t)many);
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  test_ring(1, 1, 0);
  test_ring(8, 8, 0);
  test_ring(12, 5, 0);
  test_ring(3, 16, 1);
  test_early();
  test_derived(0);
  test_derived(1);
  test_arrived_is_complete();
  test_order();
#ifdef MPI_ABI_VERSION
  test_edges();
#ifdef __x86_64__
  test_either_count();
#endif
#endif
  return check_end();
}
