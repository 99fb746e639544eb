/* Blocking and nonblocking sends of every mode, with every receive form, at sizes around the limits of the
 * protocols; to the other ranks and to the rank itself. */
#include "check.h"

enum { kStandard, kBuffered, kSynchronous, kReady, kModes };

static const int kSizes[] = {0,    1,    7,    8,    63,   64,   65,    255,   256,   257,    1023,
                             1024, 1025, 4096, 8191, 8192, 8193, 16385, 65536, 65537, 300001, 1 << 20};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0], kMost = 1 << 20 };

static unsigned char *out, *in;

static void send_blocking(int mode, int bytes, int to, int tag) {
  switch (mode) {
    case kStandard:
      CHECK_OK(MPI_Send(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
      break;
    case kBuffered:
      CHECK_OK(MPI_Bsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
      break;
    case kSynchronous:
      CHECK_OK(MPI_Ssend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
      break;
    default:
      CHECK_OK(MPI_Rsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
      break;
  }
}

static MPI_Request send_nonblocking(int mode, int bytes, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (mode) {
    case kStandard:
      CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
      break;
    case kBuffered:
      CHECK_OK(MPI_Ibsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
      break;
    case kSynchronous:
      CHECK_OK(MPI_Issend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
      break;
    default:
      CHECK_OK(MPI_Irsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
      break;
  }
  return request;
}

static void check_status(const MPI_Status* status, int bytes, int from, int tag) {
  int count = -1;
  CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  CHECK_EQ(status->MPI_SOURCE, from);
  CHECK_EQ(status->MPI_TAG, tag);
}

/* Everybody sends to the right and receives from the left. The receive is posted first, so ready mode is
 * allowed. */
static void test_posted(int mode, int bytes, int blocking, int distance) {
  int to = (world_rank + distance) % world_size, from = (world_rank - distance + world_size) % world_size,
      tag = 10 * mode + blocking;
  MPI_Request request, send;
  MPI_Status status;
  memset(in, 0xee, (size_t)bytes);
  pattern_fill(out, (size_t)bytes, (uint32_t)(world_rank + bytes));
  CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request));
  MPI_Barrier(MPI_COMM_WORLD);
  if (blocking) {
    send_blocking(mode, bytes, to, tag);
    CHECK_OK(MPI_Wait(&request, &status));
  } else {
    send = send_nonblocking(mode, bytes, to, tag);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(send == MPI_REQUEST_NULL);
  }
  CHECK(request == MPI_REQUEST_NULL);
  check_status(&status, bytes, from, tag);
  CHECK_PATTERN(in, (size_t)bytes, (uint32_t)(from + bytes));
}

/* The send comes first; the receive is larger than the message. */
static void test_unexpected(int mode, int bytes, int distance) {
  int to = (world_rank + distance) % world_size, from = (world_rank - distance + world_size) % world_size,
      tag = 100 + mode;
  MPI_Status status;
  pattern_fill(out, (size_t)bytes, (uint32_t)(world_rank * 3 + bytes));
  MPI_Request send = send_nonblocking(mode, bytes, to, tag);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(in, 0xee, (size_t)bytes + 16);
  CHECK_OK(MPI_Recv(in, bytes + 16, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
  check_status(&status, bytes, from, tag);
  CHECK_PATTERN(in, (size_t)bytes, (uint32_t)(from * 3 + bytes));
  for (int i = 0; i < 16; i++) CHECK_EQ(in[bytes + i], 0xee);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* A synchronous send does not complete before its receive has started. */
static void test_synchronous(int bytes) {
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size, done = 0;
  MPI_Request send = send_nonblocking(kSynchronous, bytes, to, 200);
  for (int i = 0; i < 20; i++) {
    CHECK_OK(MPI_Test(&send, &done, MPI_STATUS_IGNORE));
    CHECK(!done);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, from, 200, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  out = check_malloc(kMost + 16);
  in = check_malloc(kMost + 16);
  int attached = 2 * kMost + 10 * MPI_BSEND_OVERHEAD;
  void* buffer = check_malloc((size_t)attached);
  CHECK_OK(MPI_Buffer_attach(buffer, attached));
  for (int i = 0; i < kSizeCount; i++) {
    for (int mode = 0; mode < kModes; mode++) {
      for (int distance = 0; distance < 2; distance++) {
        test_posted(mode, kSizes[i], 1, distance);
        test_posted(mode, kSizes[i], 0, distance);
        if (mode != kReady) test_unexpected(mode, kSizes[i], distance);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    test_synchronous(kSizes[i]);
  }
  int size;
  CHECK_OK(MPI_Buffer_detach(&buffer, &size));
  CHECK_EQ(size, attached);
  free(buffer);
  free(out);
  free(in);
  return check_end();
}
