/* Locks are given first come, first served, whether who comes lives on the target's worker, on its node or on another
 * one.
 *
 * Who waits for a lock cannot tell. So each rank that asks has a witness on its own worker, which is told just before and
 * runs when the other is suspended: the request is in the queue then, or on its way to the target's node. What the
 * witness writes to rank 0, which holds the lock, comes there behind it. */
#include "check.h"
#ifdef MPI_ABI_VERSION
#include <mpix.h>
#endif

enum { kGo = 1, kGoing, kAsked, kRounds = 6 };

static MPI_Win win;
static long* memory; /* rank 0's: how many have had the lock, and who */
static int* witness; /* by rank; -1: it asks for nothing */
static int* order;   /* ranks in which they ask */
static int askers;

/* The first rank of each worker is the witness of the others. Who is alone there has none. */
static void find_witnesses(void) {
  int mine[2] = {0, world_rank}; /* worker, and a rank that only those of a node have in common */
#ifdef MPI_ABI_VERSION
  int workers;
  MPI_Comm node;
  CHECK_OK(MPIX_Pin(1));
  CHECK_OK(MPIX_Get_worker(&mine[0], &workers));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  CHECK_OK(MPI_Bcast(&mine[1], 1, MPI_INT, 0, node));
  CHECK_OK(MPI_Comm_free(&node));
#endif
  int* all = (int*)check_malloc((size_t)world_size * sizeof mine);
  CHECK_OK(MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD));
  for (int rank = 0; rank < world_size; rank++) {
    witness[rank] = -1;
    for (int other = 0; other < rank && witness[rank] < 0; other++) {
      if (memcmp(&all[2 * rank], &all[2 * other], sizeof mine) == 0) witness[rank] = other;
    }
    if (witness[rank] >= 0) order[askers++] = rank;
  }
  free(all);
}

/* The same everywhere. */
static void shuffle(unsigned seed) {
  for (int i = askers - 1; i > 0; i--) {
    seed = seed * 1103515245u + 12345u;
    const int other = (int)((seed >> 8) % (unsigned)(i + 1)), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

/* Whether a rank asks for the exclusive lock, in a round. */
static int exclusive(int round, int rank) {
  return round % 3 == 0 || (rank + round) % 3 == 0;
}

/* In an epoch of the lock. */
static void note_turn(void) {
  const long one = 1, me = world_rank;
  long place = -1;
  CHECK_OK(MPI_Fetch_and_op(&one, &place, MPI_LONG, 0, 0, MPI_SUM, win));
  CHECK_OK(MPI_Win_flush(0, win));
  CHECK(place >= 0 && place < askers);
  CHECK_OK(MPI_Put(&me, 1, MPI_LONG, 0, 1 + place, 1, MPI_LONG, win));
}

static void hold_and_let_ask(int round) {
  CHECK_OK(MPI_Win_lock(round % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win));
  const long none = 0;
  CHECK_OK(MPI_Put(&none, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
  for (int i = 0; i < askers; i++) {
    int ignored = 0;
    CHECK_OK(MPI_Send(&ignored, 1, MPI_INT, order[i], kGo, MPI_COMM_WORLD));
    if (witness[order[i]] == 0)
      CHECK_OK(MPI_Recv(&ignored, 1, MPI_INT, order[i], kGoing, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
      CHECK_OK(MPI_Recv(&ignored, 1, MPI_INT, witness[order[i]], kAsked, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (i + 1 == askers) continue;
    /* Nobody has had a turn, but who may share the lock with the holder before an exclusive one has come. */
    CHECK(memory[0] <= (round % 2 == 0 ? 0 : i + 1));
  }
  CHECK_OK(MPI_Win_unlock(0, win));
}

static void ask(int round) {
  int ignored = 0;
  MPI_Request going;
  CHECK_OK(MPI_Recv(&ignored, 1, MPI_INT, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Isend(&ignored, 1, MPI_INT, witness[world_rank], kGoing, MPI_COMM_WORLD, &going));
  CHECK_OK(MPI_Win_lock(exclusive(round, world_rank) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win));
  note_turn();
  CHECK_OK(MPI_Win_unlock(0, win));
  CHECK_OK(MPI_Wait(&going, MPI_STATUS_IGNORE));
}

/* Of the ranks that ask in this order those of this witness. */
static void witness_asking(void) {
  for (int i = 0; i < askers; i++) {
    if (witness[order[i]] != world_rank) continue;
    int ignored;
    CHECK_OK(MPI_Recv(&ignored, 1, MPI_INT, order[i], kGoing, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&ignored, 1, MPI_INT, 0, kAsked, MPI_COMM_WORLD));
  }
}

/* Exclusive holders had their turn where they came; those between two of them shared the lock, in any order. */
static void check_turns(int round) {
  CHECK_EQ(memory[0], askers);
  for (int begin = 0; begin < askers;) {
    int end = begin + 1;
    if (!exclusive(round, order[begin])) {
      while (end < askers && !exclusive(round, order[end])) end++;
    }
    for (int i = begin; i < end; i++) {
      int found = 0;
      for (int k = begin; k < end; k++) found += memory[1 + k] == order[i];
      if (found != 1)
        check_failed(__FILE__, __LINE__, "round %d: rank %d came as number %d, but had no turn there", round,
                     order[i], i);
    }
    begin = end;
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  witness = (int*)check_malloc((size_t)world_size * sizeof(int));
  order = (int*)check_malloc((size_t)world_size * sizeof(int));
  find_witnesses();
  CHECK_OK(MPI_Win_allocate((MPI_Aint)sizeof(long) * (world_size + 1), sizeof(long), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &memory, &win));
  for (int round = 0; round < kRounds; round++) {
    shuffle(17u * (unsigned)round + 3u);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (world_rank == 0)
      hold_and_let_ask(round);
    else if (witness[world_rank] >= 0)
      ask(round);
    else
      witness_asking();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (world_rank == 0) check_turns(round);
  }
  CHECK_OK(MPI_Win_free(&win));
  free(witness);
  free(order);
  return check_end();
}
