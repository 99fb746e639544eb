/* Programs whose outcome the order of messages decides, or does not: what --explore is to find. The first argument says which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int rank, size;

static int take(int source, int tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

static void give(int to, int tag, int value) {
  MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

/* Whatever the order, the sum is the same. */
static void sum(void) {
  if (rank != 0) return give(0, 0, rank);
  int all = 0;
  for (int i = 1; i < size; ++i) all += take(MPI_ANY_SOURCE, 0);
  printf("sum %d\n", all);
}

/* Prints who came first, for each other rank a line's worth of outcome. */
static void first(void) {
  if (rank != 0) return give(0, 0, rank);
  printf("first %d\n", take(MPI_ANY_SOURCE, 0));
  for (int i = 2; i < size; ++i) take(MPI_ANY_SOURCE, 0);
}

/* Stands still if the first message is that of rank 1. */
static void deadlock(void) {
  if (rank != 0) return give(0, 0, rank);
  take(MPI_ANY_SOURCE, 0);
  take(1, 0);
}

static void end_badly(void) {
  if (rank != 0) return give(0, 0, rank);
  if (take(MPI_ANY_SOURCE, 0) == 2) MPI_Abort(MPI_COMM_WORLD, 9);
  take(MPI_ANY_SOURCE, 0);
}

/* Rank 2's message is too long for the first receive. */
static void truncate(void) {
  int values[2] = {0, 0};
  if (rank != 0) {
    MPI_Send(values, rank, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(values, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(values, 2, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Two times two orders for three ranks, not 24: the messages behind the barrier are not there before it. */
static void phases(void) {
  for (int phase = 0; phase < 2; ++phase) {
    if (rank != 0) give(0, 0, rank);
    for (int i = 1; rank == 0 && i < size; ++i) take(MPI_ANY_SOURCE, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* A worker's second request comes because of the answer to its first. */
static void workers(void) {
  const int tasks = 3;
  if (rank != 0) {
    do give(0, 0, rank);
    while (take(0, 1) >= 0);
    return;
  }
  for (int given = 0, left = size - 1; left > 0; ++given) {
    const int who = take(MPI_ANY_SOURCE, 0);
    give(who, 1, given < tasks ? given : -1);
    left -= given >= tasks;
  }
}

static void posted(void) {
  if (rank != 0) return give(0, rank, rank);
  MPI_Request requests[8];
  int values[8];
  for (int i = 1; i < size; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(size - 1, requests + 1, MPI_STATUSES_IGNORE);
  printf("first %d\n", values[1]);
}

static void persistent(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Request request;
  int value, seen = 0;
  MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  for (int i = 1; i < size; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (seen == 0) seen = value;
  }
  MPI_Request_free(&request);
  printf("first %d\n", seen);
}

static void probe(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  printf("first %d\n", take(status.MPI_SOURCE, 0));
  for (int i = 2; i < size; ++i) take(MPI_ANY_SOURCE, 0);
}

static void tests(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Status status;
  MPI_Request request;
  int value, flag;
  do MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  printf("first %d\n", take(status.MPI_SOURCE, 0));
  for (int i = 2; i < size; ++i) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    do MPI_Test(&request, &flag, &status);
    while (!flag);
  }
}

/* Which of two messages is seen to be complete first, by each call that says it. */
static void any(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Request requests[2];
  int values[2], index;
  for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  printf("first %d\n", index + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void some(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Request requests[2];
  int values[2], count = 0, indices[2];
  for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  while (count == 0) MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  printf("first %d\n", count == 1 ? indices[0] + 1 : 12);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Looks once for each message and goes on without those that are not there. */
static void answers(void) {
  if (rank != 0) return give(0, 0, rank);
  int there = 0;
  for (int i = 1; i < size; ++i) {
    int flag;
    MPI_Iprobe(i, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    there += flag;
  }
  printf("there %d\n", there);
  for (int i = 1; i < size; ++i) take(i, 0);
}

/* A test of which the program says nothing, and of requests that are none. */
static void loops(void) {
  if (rank != 0) return give(0, 0, rank);
  MPI_Request request = MPI_REQUEST_NULL;
  int value, flag;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  if (!flag) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  do MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  while (!flag);
  for (int i = 2; i < size; ++i) take(i, 0);
}

/* Both send first: somebody has to keep the messages. */
static void unsafe(void) {
  if (rank > 1) return;
  give(1 - rank, 0, rank);
  take(1 - rank, 0);
}

static void nonblocking(void) {
  MPI_Request request;
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  take((rank + size - 1) % size, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Who comes first to a counter is decided by no message. */
static void counter(void) {
  MPI_Win win;
  int* memory;
  int one = 1, before = 0;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank != 0) MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  printf("before %d\n", before);
  MPI_Win_free(&win);
}

/* Differs from run to run, but by nothing that order decides. */
static void clocks(void) {
  struct timespec now;
  unsigned random;
  clock_gettime(CLOCK_REALTIME, &now);
  if (getrandom(&random, sizeof random, 0) < 0) abort();
  printf("%ld.%09ld %g %ld %u\n", (long)now.tv_sec, now.tv_nsec, MPI_Wtime(), (long)time(NULL), random);
  sum();
}

static void determined(void) {
  if (rank != 0) return give(0, 0, rank);
  for (int i = 1; i < size; ++i) take(i, 0);
}

/* All runs have the same input. */
static void input(void) {
  char line[100] = "";
  if (rank == 0) printf("read %s", fgets(line, sizeof line, stdin) == NULL ? "nothing\n" : line);
  sum();
}

/* Comes to no end if the first message is that of rank 2. */
static void forever(void) {
  if (rank != 0) return give(0, 0, rank);
  volatile int first = take(MPI_ANY_SOURCE, 0);
  while (first == 2) {
  }
  take(MPI_ANY_SOURCE, 0);
}

static int arguments;

/* The second one is to be the program's own. */
static void own_argument(void) {
  if (arguments != 3) MPI_Abort(MPI_COMM_WORLD, 9);
  sum();
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kPrograms[] = {{"sum", sum},
                   {"first", first},
                   {"deadlock", deadlock},
                   {"abort", end_badly},
                   {"truncate", truncate},
                   {"phases", phases},
                   {"workers", workers},
                   {"posted", posted},
                   {"probe", probe},
                   {"tests", tests},
                   {"persistent", persistent},
                   {"clocks", clocks},
                   {"any", any},
                   {"some", some},
                   {"answers", answers},
                   {"loops", loops},
                   {"unsafe", unsafe},
                   {"counter", counter},
                   {"nonblocking", nonblocking},
                   {"input", input},
                   {"forever", forever},
                   {"argument", own_argument},
                   {"determined", determined}};
  arguments = argc;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kPrograms / sizeof kPrograms[0]; ++i) {
    if (argc > 1 && strcmp(kPrograms[i].name, argv[1]) == 0) kPrograms[i].run();
  }
  MPI_Finalize();
  return 0;
}
