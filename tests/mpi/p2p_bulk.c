/* Messages of hundreds of kilobytes and more, which two workers may copy together: every byte arrives, whoever
 * comes first, whether the other side waits or computes, into a buffer that is too short too, and nothing beyond
 * its end is written. MPI report, 3.2 and 3.7. */
#include "check.h"

enum { kMost = (4 << 20) + 4099, kGuard = 64 };

static unsigned char *out, *in;

static unsigned char byte_of(int rank, int round, long i) {
  return (unsigned char)(rank * 31 + round * 7 + i * 131 + (i >> 12));
}

static void fill(int round, long bytes) {
  for (long i = 0; i < bytes; i++) out[i] = byte_of(world_rank, round, i);
}

static void check_bytes(int from, int round, long bytes) {
  long wrong = 0;
  for (long i = 0; i < bytes; i++) wrong += in[i] != byte_of(from, round, i);
  CHECK_EQ(wrong, 0);
  for (long i = bytes; i < bytes + kGuard; i++) wrong += in[i] != 0xee;
  CHECK_EQ(wrong, 0);
}

/* Milliseconds of work without MPI, so that this side's worker does not idle. */
static void compute(double ms) {
  double end = MPI_Wtime() + ms * 1e-3;
  volatile long spins = 0;
  while (MPI_Wtime() < end) spins = spins + 1;
}

/* In pairs: 0 with 1, 2 with 3; a last one alone sends to itself. `late`: which side comes a while after the other. */
static void exchange(int round, long bytes, int late) {
  int partner = world_rank % 2 ? world_rank - 1 : world_rank + 1 < world_size ? world_rank + 1 : world_rank;
  MPI_Request request;
  MPI_Status status;
  int received;
  fill(round, bytes);
  memset(in, 0xee, (size_t)bytes + kGuard);
  MPI_Barrier(MPI_COMM_WORLD);
  if (partner == world_rank) {
    CHECK_OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, partner, 1, in, (int)bytes, MPI_BYTE, partner, 1,
                          MPI_COMM_WORLD, &status));
  } else if (world_rank % 2 == 0) {
    if (late == 0) compute(1);
    CHECK_OK(MPI_Send(out, (int)bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(in, (int)bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &status));
  } else {
    CHECK_OK(MPI_Irecv(in, (int)bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &request));
    if (late == 1) compute(1);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Ssend(out, (int)bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD));
  }
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &received));
  CHECK_EQ(received, bytes);
  check_bytes(partner, round, bytes);
}

/* The receiver comes last and copies; its buffer has room for half of the message. */
static void test_truncated(void) {
  const int bytes = 1 << 20;
  int class;
  if (world_size < 2 || world_rank > 1) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  fill(99, bytes);
  memset(in, 0xee, (size_t)bytes);
  if (world_rank == 0) {
    CHECK_OK(MPI_Send(out, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
  } else {
    compute(1);
    int error = MPI_Recv(in, bytes / 2, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
#ifdef MPI_ABI_VERSION /* what is there then is left to the library */
    check_bytes(0, 99, bytes / 2);
#endif
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  static const long sizes[] = {131071, 131072, 200001, 524288, 1 << 20, kMost};
  check_begin(&argc, &argv);
  out = malloc(kMost + kGuard);
  in = malloc(kMost + kGuard);
  int round = 0;
  for (int late = -1; late < 2; late++)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) exchange(round++, sizes[s], late);
  test_truncated();
  free(out);
  free(in);
  return check_end();
}
