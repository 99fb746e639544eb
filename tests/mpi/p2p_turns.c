/* A rank that finds at once whatever it asks for gives the other ranks of its core their turns all the same. Rank 1 counts
 * its turns in memory that it shares with rank 0, which makes calls of one kind after the other. */
#include <pthread.h>

#include "check.h"

enum { kCalls = 20000 };

/* At the beginning of rank 1's part of the window. */
typedef struct {
  volatile long turns;
  pthread_t thread; /* ranks of one worker have the same */
} Counter;

static Counter* counter;
static int shares_core, value = 5, in;
static MPI_Win window;
static int* words;
static int* shared_words;

static void at_once(int kind) {
  MPI_Request request, several[2];
  MPI_Status status;
  MPI_Message message;
  int flag = 0, index, indices[2], outcount;
  switch (kind) {
    case 0: /* receives */
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
      MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
      MPI_Request_free(&request);
      break;
    case 1: /* waits */
      MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[0]);
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[1]);
      MPI_Waitall(2, several, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[0]);
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[1]);
      MPI_Waitany(2, several, &index, &status);
      MPI_Waitsome(2, several, &outcount, indices, MPI_STATUSES_IGNORE);
      break;
    case 3: /* tests */
      MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[0]);
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[1]);
      MPI_Test(&several[0], &flag, &status);
      CHECK(flag);
      MPI_Test(&several[1], &flag, &status);
      CHECK(flag);
      break;
    case 4:
      MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[0]);
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &several[1]);
      MPI_Testany(2, several, &index, &flag, &status);
      MPI_Testsome(2, several, &outcount, indices, MPI_STATUSES_IGNORE);
      MPI_Testall(2, several, &flag, MPI_STATUSES_IGNORE);
      break;
    case 5: /* probes; the message lies there all the time */
      MPI_Probe(0, 2, MPI_COMM_SELF, &status);
      break;
    case 6:
      MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, &status);
      CHECK(flag);
      break;
    case 7: /* matched receives */
      MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
      MPI_Improbe(0, 1, MPI_COMM_SELF, &flag, &message, &status);
      CHECK(flag);
      MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
      MPI_Request_free(&request);
      break;
    case 8: /* one-sided operations without a flush */
      MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      break;
    case 9:
      MPI_Get(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      break;
    case 10:
      MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
      break;
    case 11:
      MPI_Fetch_and_op(&value, &in, MPI_INT, 0, 0, MPI_SUM, window);
      break;
    case 12:
      MPI_Compare_and_swap(&value, &value, &in, MPI_INT, 0, 0, window);
      break;
    default: /* no single words */
      MPI_Accumulate(shared_words, 3, MPI_INT, 0, 0, 3, MPI_INT, MPI_MAX, window);
      break;
  }
}

enum { kKinds = 14 };

static void ask(void) {
  MPI_Request pending;
  MPI_Isend(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &pending);
  MPI_Win_lock_all(0, window);
  for (int kind = 0; kind < kKinds; kind++) {
    const long before = counter->turns;
    for (int i = 0; i < kCalls; i++) at_once(kind);
    const long turns = counter->turns - before;
    /* A random order gives rank 1 some of them. */
    if (shares_core && turns < kCalls / 128 / 4)
      check_failed(__FILE__, __LINE__, "in %d calls of kind %d rank 1 has had %ld turns", kCalls, kind,
                   turns);
  }
  MPI_Win_unlock_all(window);
  MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

static void count(void) {
  int done = 0, flag;
  MPI_Request end;
  MPI_Irecv(&done, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &end);
  do {
    counter->turns++;
    MPI_Test(&end, &flag, MPI_STATUS_IGNORE);
  } while (!flag);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (ranks_sharing_memory() == world_size) {
    MPI_Win shared;
    Counter *mine, *theirs;
    MPI_Aint bytes;
    int unit, last = world_size > 1 ? 1 : 0;
    int own[4] = {0};
    shared_words = own;
    MPI_Win_allocate_shared(sizeof(Counter), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &shared);
    MPI_Win_shared_query(shared, last, &bytes, &unit, &theirs);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &window);
    counter = theirs;
    mine->turns = 0, mine->thread = pthread_self();
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef MPI_ABI_VERSION
    shares_core = world_size > 1 && pthread_equal(theirs->thread, pthread_self());
#endif
    if (world_rank == 0) {
      if (world_size > 1) ask();
      if (world_size > 1) MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else if (world_rank == 1) {
      count();
    }
    MPI_Win_free(&window);
    MPI_Win_free(&shared);
  }
  return check_end();
}
