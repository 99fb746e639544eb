/* Every form of wait and test: one, any, all, some; null, inactive and completed requests mixed; empty lists;
 * statuses. Rank 1 (or rank 0 itself, if it is alone) sends to rank 0 when told. MPI report, 3.7.3 to 3.7.5.
 */
#include "check.h"

enum { kMost = 12, kGo = 900 };

static int sender; /* who sends to rank 0 */

/* Rank 0 tells the sender to send the messages with tags first..last. */
static void let_send(int first, int last) {
  if (sender == 0) {
    for (int tag = first; tag <= last; tag++) {
      MPI_Request request;
      static int values[1000];
      values[tag] = 1000 + tag;
      CHECK_OK(MPI_Isend(&values[tag], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request));
      CHECK_OK(MPI_Request_free(&request));
      CHECK(request == MPI_REQUEST_NULL);
    }
    return;
  }
  int range[2] = {first, last};
  CHECK_OK(MPI_Send(range, 2, MPI_INT, sender, kGo, MPI_COMM_WORLD));
}

static void serve(void) {
  for (;;) {
    int range[2];
    CHECK_OK(MPI_Recv(range, 2, MPI_INT, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (range[0] < 0) return;
    for (int tag = range[0]; tag <= range[1]; tag++) {
      int value = 1000 + tag;
      CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
    }
  }
}

static void post(int count, int first_tag, int* values, MPI_Request* requests) {
  for (int i = 0; i < count; i++) {
    values[i] = -1;
    CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, sender, first_tag + i, MPI_COMM_WORLD, &requests[i]));
    CHECK(requests[i] != MPI_REQUEST_NULL);
  }
}

static void check_empty(const MPI_Status* status) {
  int count = -1, cancelled = -1;
  CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
  CHECK_EQ(count, 0);
  CHECK_OK(MPI_Test_cancelled(status, &cancelled));
  CHECK(!cancelled);
}

static void check_received(const MPI_Status* status, int tag) {
  int count = -1;
  CHECK_EQ(status->MPI_SOURCE, sender);
  CHECK_EQ(status->MPI_TAG, tag);
  CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
  CHECK_EQ(count, 1);
}

static void test_null_requests(void) {
  MPI_Request null = MPI_REQUEST_NULL, nulls[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 5, count = 5, indices[3];
  CHECK_OK(MPI_Wait(&null, &status));
  check_empty(&status);
  CHECK_OK(MPI_Test(&null, &flag, &status));
  CHECK(flag);
  check_empty(&status);
  CHECK_OK(MPI_Waitany(3, nulls, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&status);
  flag = 0, index = 5;
  CHECK_OK(MPI_Testany(3, nulls, &index, &flag, &status));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&status);
  CHECK_OK(MPI_Waitall(3, nulls, statuses));
  for (int i = 0; i < 3; i++) check_empty(&statuses[i]);
  flag = 0;
  CHECK_OK(MPI_Testall(3, nulls, &flag, statuses));
  CHECK(flag);
  CHECK_OK(MPI_Waitsome(3, nulls, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  count = 5;
  CHECK_OK(MPI_Testsome(3, nulls, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  /* Empty lists. */
  CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  flag = 0;
  CHECK_OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
  CHECK_OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_OK(MPI_Waitsome(0, NULL, &count, indices, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, MPI_UNDEFINED);
}

static void test_one(void) {
  int value, flag = 1;
  MPI_Request request;
  MPI_Status status;
  post(1, 100, &value, &request);
  CHECK_OK(MPI_Test(&request, &flag, &status));
  CHECK(!flag && request != MPI_REQUEST_NULL);
  let_send(100, 100);
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(request == MPI_REQUEST_NULL);
  check_received(&status, 100);
  CHECK_EQ(value, 1100);
  post(1, 101, &value, &request);
  let_send(101, 101);
  for (flag = 0; !flag;) CHECK_OK(MPI_Test(&request, &flag, &status));
  CHECK(request == MPI_REQUEST_NULL);
  check_received(&status, 101);
  CHECK_EQ(value, 1101);
}

static void test_any(void) {
  int values[kMost], flag = 1, index = -1, done[kMost] = {0};
  MPI_Request requests[kMost];
  MPI_Status status;
  post(kMost, 200, values, requests);
  CHECK_OK(MPI_Cancel(&requests[3])); /* nothing is sent for it */
  CHECK_OK(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
  CHECK(requests[3] == MPI_REQUEST_NULL);
  CHECK_OK(MPI_Testany(kMost, requests, &index, &flag, &status));
  CHECK(!flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  let_send(205, 205);
  CHECK_OK(MPI_Waitany(kMost, requests, &index, &status));
  CHECK_EQ(index, 5);
  check_received(&status, 205);
  CHECK_EQ(values[5], 1205);
  CHECK(requests[5] == MPI_REQUEST_NULL);
  done[3] = done[5] = 1;
  let_send(200, 202);
  let_send(204, 204);
  let_send(206, 200 + kMost - 1);
  for (int left = kMost - 2; left > 0; left--) {
    if (left % 2) {
      CHECK_OK(MPI_Waitany(kMost, requests, &index, &status));
    } else {
      for (flag = 0; !flag;) CHECK_OK(MPI_Testany(kMost, requests, &index, &flag, &status));
    }
    CHECK(index >= 0 && index < kMost && !done[index]);
    check_received(&status, 200 + index);
    CHECK_EQ(values[index], 1200 + index);
    done[index] = 1;
  }
  CHECK_OK(MPI_Waitany(kMost, requests, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
}

static void test_all(void) {
  int values[kMost], flag = 1;
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  post(kMost, 300, values, requests);
  let_send(300, 305);
  for (int i = 0; i < 20; i++) {
    CHECK_OK(MPI_Testall(kMost, requests, &flag, statuses));
    CHECK(!flag);
    for (int k = 0; k < kMost; k++) CHECK(requests[k] != MPI_REQUEST_NULL); /* all or nothing */
  }
  let_send(306, 300 + kMost - 1);
  CHECK_OK(MPI_Waitall(kMost, requests, statuses));
  for (int i = 0; i < kMost; i++) {
    CHECK(requests[i] == MPI_REQUEST_NULL);
    check_received(&statuses[i], 300 + i);
    CHECK_EQ(values[i], 1300 + i);
  }
  /* Half of them null, statuses ignored. */
  post(kMost / 2, 320, values, requests);
  for (int i = kMost / 2; i < kMost; i++) requests[i] = MPI_REQUEST_NULL;
  let_send(320, 320 + kMost / 2 - 1);
  for (flag = 0; !flag;) CHECK_OK(MPI_Testall(kMost, requests, &flag, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMost / 2; i++) CHECK_EQ(values[i], 1320 + i);
}

static void test_some(void) {
  int values[kMost], count = -1, indices[kMost], done[kMost] = {0}, total = 0;
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  post(kMost, 400, values, requests);
  CHECK_OK(MPI_Testsome(kMost, requests, &count, indices, statuses));
  CHECK_EQ(count, 0);
  let_send(407, 407);
  CHECK_OK(MPI_Waitsome(kMost, requests, &count, indices, statuses));
  CHECK_EQ(count, 1);
  CHECK_EQ(indices[0], 7);
  check_received(&statuses[0], 407);
  CHECK(requests[7] == MPI_REQUEST_NULL);
  done[7] = 1;
  total = 1;
  let_send(400, 406);
  let_send(408, 400 + kMost - 1);
  while (total < kMost) {
    if (total % 2) {
      CHECK_OK(MPI_Waitsome(kMost, requests, &count, indices, statuses));
      CHECK(count > 0);
    } else {
      CHECK_OK(MPI_Testsome(kMost, requests, &count, indices, statuses));
      CHECK(count >= 0);
    }
    for (int i = 0; i < count; i++) {
      CHECK(!done[indices[i]]);
      check_received(&statuses[i], 400 + indices[i]);
      CHECK_EQ(values[indices[i]], 1400 + indices[i]);
      done[indices[i]] = 1;
    }
    total += count;
  }
  CHECK_OK(MPI_Waitsome(kMost, requests, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
}

/* Inactive persistent requests count as null ones, and are not freed. */
static void test_inactive(void) {
  int values[3], index = 0, flag = 0, count = 0, indices[3];
  MPI_Request requests[3];
  MPI_Status status, statuses[3];
  for (int i = 0; i < 3; i++)
    CHECK_OK(MPI_Recv_init(&values[i], 1, MPI_INT, sender, 500 + i, MPI_COMM_WORLD, &requests[i]));
  CHECK_OK(MPI_Wait(&requests[0], &status));
  check_empty(&status);
  CHECK_OK(MPI_Test(&requests[0], &flag, &status));
  CHECK(flag);
  CHECK_OK(MPI_Waitany(3, requests, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_OK(MPI_Waitsome(3, requests, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Waitall(3, requests, statuses));
  CHECK_OK(MPI_Start(&requests[1]));
  CHECK_OK(MPI_Testany(3, requests, &index, &flag, &status));
  CHECK(!flag);
  let_send(501, 501);
  CHECK_OK(MPI_Waitany(3, requests, &index, &status));
  CHECK_EQ(index, 1);
  check_received(&status, 501);
  CHECK(requests[1] != MPI_REQUEST_NULL);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  sender = world_size > 1 ? 1 : 0;
  if (world_rank == 0) {
    for (int round = 0; round < 3; round++) {
      test_null_requests();
      test_one();
      test_any();
      test_all();
      test_some();
      test_inactive();
    }
    int stop[2] = {-1, -1};
    if (sender != 0) CHECK_OK(MPI_Send(stop, 2, MPI_INT, sender, kGo, MPI_COMM_WORLD));
  } else if (world_rank == sender) {
    serve();
  }
  return check_end();
}
