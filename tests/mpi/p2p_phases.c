/* Phases of messages whose sizes change, with computation between start and wait: what an adaptive eager limit follows.
 * Each rank exchanges with both neighbours of a ring, in each round large and small messages in one stream (same tag), by standard,
 * synchronous and persistent sends; each byte says which message it belongs to. MPI report, 3.5 (order), 3.7.
 */
#include "check.h"

enum { kSides = 2, kStream = 5, kRounds = 12, kLargest = 300000 };

static const int kPhases[] = {60000, 500, 20000, 200000, 3000, 120000};
enum { kPhaseCount = sizeof kPhases / sizeof *kPhases };

static char *out[kSides][kStream], *in[kSides][kStream];

/* The stream of a round: the phase's size and others between, one of them larger. */
static int bytes_of(int phase, int round, int i) {
  static const int kOthers[] = {0, 13, 4096};
  if (i % 2 == 0) return kPhases[phase] + 16 * i;
  return (round + i) % 7 == 0 ? kLargest : kOthers[(round + i) % 3];
}

static char stamp(int from, int side, int phase, int round, int i) {
  return (char)(from * 31 + side * 17 + phase * 11 + round * 5 + i);
}

static void compute(double seconds) {
  double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

static int neighbour(int side) {
  return (world_rank + (side == 0 ? 1 : world_size - 1)) % world_size;
}

static void exchange(int phase, int round) {
  MPI_Request requests[2 * kSides * kStream];
  int n = 0;
  for (int side = 0; side < kSides; side++)
    for (int i = 0; i < kStream; i++) {
      memset(in[side][i], 'x', 8);
      CHECK_OK(MPI_Irecv(in[side][i], kLargest, MPI_CHAR, neighbour(1 - side), side, MPI_COMM_WORLD,
                         &requests[n++]));
    }
  for (int side = 0; side < kSides; side++)
    for (int i = 0; i < kStream; i++) {
      const int bytes = bytes_of(phase, round, i);
      memset(out[side][i], stamp(world_rank, side, phase, round, i), (size_t)bytes);
      if (round % 4 == 3 && i == 2)
        CHECK_OK(
            MPI_Issend(out[side][i], bytes, MPI_CHAR, neighbour(side), side, MPI_COMM_WORLD, &requests[n++]));
      else
        CHECK_OK(
            MPI_Isend(out[side][i], bytes, MPI_CHAR, neighbour(side), side, MPI_COMM_WORLD, &requests[n++]));
    }
  if (phase % 2 == 0) compute(3e-4);
  MPI_Status statuses[2 * kSides * kStream];
  CHECK_OK(MPI_Waitall(n, requests, statuses));
  for (int side = 0; side < kSides; side++)
    for (int i = 0; i < kStream; i++) {
      int count = -1;
      const int bytes = bytes_of(phase, round, i);
      CHECK_OK(MPI_Get_count(&statuses[side * kStream + i], MPI_CHAR, &count));
      CHECK_EQ(count, bytes);
      const char expected = stamp(neighbour(1 - side), side, phase, round, i);
      int wrong = 0;
      for (int at = 0; at < bytes; at++) wrong += in[side][i][at] != expected;
      CHECK_EQ(wrong, 0);
    }
}

/* The same stream by persistent operations. */
static void persistent(int phase) {
  MPI_Request requests[2 * kSides];
  const int bytes = kPhases[phase];
  for (int side = 0; side < kSides; side++) {
    CHECK_OK(MPI_Recv_init(in[side][0], bytes, MPI_CHAR, neighbour(1 - side), side, MPI_COMM_WORLD,
                           &requests[side]));
    CHECK_OK(MPI_Send_init(out[side][0], bytes, MPI_CHAR, neighbour(side), side, MPI_COMM_WORLD,
                           &requests[kSides + side]));
  }
  for (int round = 0; round < kRounds / 2; round++) {
    for (int side = 0; side < kSides; side++)
      memset(out[side][0], stamp(world_rank, side, phase, round, 0), (size_t)bytes);
    CHECK_OK(MPI_Startall(2 * kSides, requests));
    compute(1e-4);
    for (int done = 0; !done;) CHECK_OK(MPI_Testall(2 * kSides, requests, &done, MPI_STATUSES_IGNORE));
    for (int side = 0; side < kSides; side++) {
      const char expected = stamp(neighbour(1 - side), side, phase, round, 0);
      CHECK_EQ(in[side][0][0], expected);
      CHECK_EQ(in[side][0][bytes - 1], expected);
    }
  }
  for (int i = 0; i < 2 * kSides; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int side = 0; side < kSides; side++)
    for (int i = 0; i < kStream; i++) {
      out[side][i] = check_malloc(kLargest);
      in[side][i] = check_malloc(kLargest);
    }
  for (int phase = 0; phase < kPhaseCount; phase++) {
    for (int round = 0; round < kRounds; round++) exchange(phase, round);
    persistent(phase);
  }
  for (int side = 0; side < kSides; side++)
    for (int i = 0; i < kStream; i++) {
      free(out[side][i]);
      free(in[side][i]);
    }
  return check_end();
}
