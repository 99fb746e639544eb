/* Generalized requests, MPI_Request_get_status and its kind, MPI_Isendrecv and MPI_Isendrecv_replace. MPI
 * report, 13.2, 3.7.6, 3.11. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

typedef struct {
  int queried, freed, cancelled, complete_seen, error;
} State;

static int query(void* extra, MPI_Status* status) {
  State* state = extra;
  state->queried++;
  MPI_Status_set_elements(status, MPI_INT, 5);
  MPI_Status_set_cancelled(status, state->cancelled && !state->complete_seen);
  status->MPI_SOURCE = 17;
  status->MPI_TAG = 18;
  return state->error;
}
static int release(void* extra) {
  ((State*)extra)->freed++;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  ((State*)extra)->cancelled++;
  ((State*)extra)->complete_seen = complete;
  return MPI_SUCCESS;
}

static MPI_Request start(State* state) {
  MPI_Request request;
  memset(state, 0, sizeof *state);
  CHECK_OK(MPI_Grequest_start(query, release, cancel, state, &request));
  return request;
}

static void test_generalized(void) {
  State state;
  MPI_Status status;
  int flag = 1, count;
  MPI_Request request = start(&state), copy;
  CHECK_OK(MPI_Test(&request, &flag, &status));
  CHECK(!flag && state.queried == 0);
  CHECK_OK(MPI_Grequest_complete(request));
  CHECK_OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(flag && state.queried == 1 && state.freed == 0);
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(request == MPI_REQUEST_NULL && state.queried == 2 && state.freed == 1);
  CHECK(status.MPI_SOURCE == 17 && status.MPI_TAG == 18);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 5);
  /* Without a status the query function gets one all the same. */
  request = start(&state);
  CHECK_OK(MPI_Grequest_complete(request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(state.queried == 1 && state.freed == 1);
  /* Cancelled: the program decides; the request still has to be completed. */
  request = start(&state);
  CHECK_OK(MPI_Cancel(&request));
  CHECK(state.cancelled == 1 && !state.complete_seen);
  CHECK_OK(MPI_Grequest_complete(request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  request = start(&state);
  CHECK_OK(MPI_Grequest_complete(request));
  CHECK_OK(MPI_Cancel(&request));
  CHECK(state.cancelled == 1 && state.complete_seen);
  CHECK_OK(MPI_Wait(&request, &status));
  /* Freed before and after its completion: free_fn comes with the later of the two. */
  copy = request = start(&state);
  CHECK_OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL && state.freed == 0);
  CHECK_OK(MPI_Grequest_complete(copy));
  CHECK(state.freed == 1 && state.queried == 0);
  request = start(&state);
  CHECK_OK(MPI_Grequest_complete(request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_EQ(state.freed, 1);
}

/* Among messages, and with an error of the query function. */
static void test_generalized_arrays(void) {
  State state[2];
  MPI_Status statuses[3];
  int in = -1, index = -1;
  MPI_Request requests[3] = {start(&state[0]), start(&state[1]), MPI_REQUEST_NULL};
  CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[2]));
  CHECK_OK(MPI_Grequest_complete(requests[1]));
  CHECK_OK(MPI_Waitany(3, requests, &index, &statuses[0]));
  CHECK(index == 1 && state[1].freed == 1);
  CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
  state[0].error = MPI_ERR_OTHER;
  CHECK_OK(MPI_Grequest_complete(requests[0]));
  CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
  CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_OTHER && statuses[2].MPI_ERROR == MPI_SUCCESS);
  CHECK(state[0].freed == 1 && in == world_rank);
}

#ifdef MPI_ABI_VERSION
static void* complete_later(void* request) {
  usleep(1000);
  MPI_Grequest_complete(request);
  return NULL;
}

/* A thread of the program completes what the rank waits for; tmpi lets any thread do that. */
static void test_other_thread(void) {
  State state;
  for (int round = 0; round < 5; round++) {
    MPI_Request request = start(&state);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, complete_later, request), 0);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(state.freed, 1);
    pthread_join(thread, NULL);
  }
}
#endif

static void test_get_status(void) {
  int in[3], flag, index, count, indices[4];
  MPI_Status status, statuses[4];
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int i = 0; i < 3; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, 10 + i, MPI_COMM_SELF, &requests[i]));
  CHECK_OK(MPI_Request_get_status(requests[0], &flag, &status));
  CHECK(!flag);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
  CHECK(!flag && index == MPI_UNDEFINED);
  CHECK_OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
  CHECK_EQ(count, 0);
  CHECK_OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
  CHECK(!flag);
#endif
  int value = 5;
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 11, MPI_COMM_SELF));
  CHECK_OK(MPI_Request_get_status(requests[1], &flag, &status));
  CHECK(flag && status.MPI_TAG == 11 && requests[1] != MPI_REQUEST_NULL);
#ifdef MPI_ABI_VERSION
  for (int again = 0; again < 2; again++) { /* nothing is used up */
    CHECK_OK(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
    CHECK(flag && index == 1 && status.MPI_TAG == 11);
    CHECK_OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
    CHECK(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 11);
    CHECK_OK(MPI_Request_get_status_all(4, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag);
  }
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 10, MPI_COMM_SELF));
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 12, MPI_COMM_SELF));
  CHECK_OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
  CHECK(flag);
  for (int i = 0; i < 3; i++) CHECK_EQ(statuses[i].MPI_TAG, 10 + i);
  CHECK_EQ(statuses[3].MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Waitall(4, requests, statuses));
  CHECK_OK(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
  CHECK(flag && index == MPI_UNDEFINED && status.MPI_TAG == MPI_ANY_TAG);
  CHECK_OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
  CHECK(flag);
  CHECK_CLASS(MPI_Request_get_status_any(4, requests, NULL, &flag, &status), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_any(4, requests, &index, NULL, &status), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_all(4, NULL, &flag, statuses), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_all(-1, requests, &flag, statuses), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Request_get_status_some(4, requests, NULL, indices, statuses), MPI_ERR_ARG);
#else
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 10, MPI_COMM_SELF));
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 12, MPI_COMM_SELF));
  CHECK_OK(MPI_Waitall(4, requests, statuses));
#endif
}

static void test_exchange(int bytes) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size, count;
  char *out = check_malloc((size_t)bytes), *in = check_malloc((size_t)bytes);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  pattern_fill(out, (size_t)bytes, (uint32_t)world_rank);
  CHECK_OK(MPI_Isendrecv(out, bytes, MPI_BYTE, right, 1, in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                         &requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &statuses[0]));
  CHECK_PATTERN(in, (size_t)bytes, (uint32_t)left);
  CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 1);
  CHECK_OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  /* In place, two at a time, in both directions. */
  memcpy(in, out, (size_t)bytes);
  CHECK_OK(MPI_Isendrecv_replace(in, bytes, MPI_BYTE, right, 2, left, 2, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Isendrecv_replace(out, bytes, MPI_BYTE, left, 3, right, 3, MPI_COMM_WORLD, &requests[1]));
  CHECK_OK(MPI_Waitall(2, requests, statuses));
  CHECK_PATTERN(in, (size_t)bytes, (uint32_t)left);
  CHECK_PATTERN(out, (size_t)bytes, (uint32_t)right);
  free(out), free(in);
}

static void test_exchange_edges(void) {
  int value = world_rank, in = -1, flag = 0;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1,
                         MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && in == -1);
  CHECK_OK(MPI_Isendrecv(&value, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                         MPI_COMM_SELF, &request));
  while (!flag) CHECK_OK(MPI_Test(&request, &flag, &status));
  CHECK(in == world_rank && status.MPI_SOURCE == 0 && status.MPI_TAG == 1);
#ifdef MPI_ABI_VERSION
  char small;
  CHECK_OK(MPI_Isendrecv(&value, 1, MPI_INT, 0, 1, &small, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request));
  CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
  CHECK_CLASS(
      MPI_Isendrecv(&value, 1, MPI_INT, world_size, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request),
      MPI_ERR_RANK);
  CHECK_CLASS(MPI_Isendrecv(&value, 1, MPI_INT, 0, 1, &in, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isendrecv(&value, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Isendrecv_replace(&in, 1, MPI_INT, 0, -5, 0, 1, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Isendrecv_replace(&in, 1, MPI_DATATYPE_NULL, 0, 5, 0, 1, MPI_COMM_WORLD, &request),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Grequest_start(NULL, release, cancel, NULL, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, release, cancel, NULL, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_generalized();
  test_generalized_arrays();
#ifdef MPI_ABI_VERSION
  test_other_thread();
#endif
  test_get_status();
  for (int bytes = 1; bytes <= 100000; bytes *= 10) test_exchange(bytes);
  test_exchange_edges();
  return check_end();
}
