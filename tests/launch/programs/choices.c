/* What a run's order decides: rank 0 takes messages of all others in every way that may take one or the other, and prints a number
 * that says in which order. With an argument:
 *   first RANK   rank 0 takes one message of anybody, of which RANK's comes late, then one of rank 1: a deadlock if rank 1's was first
 *   silent RANK  the same, but RANK sends nothing
 *   more         behind all, rank 0 takes one message more of anybody, which rank 1 sends
 *   atomics      every rank fetches and increments a counter
 *   errors       calls that are refused stand between the others
 *   callbacks    an error handler looks at the clock
 *   threads      rank 1's message is sent by a thread of its
 *   abort        at the end rank 0 ends the job with the order's last three bits, and one more, as exit code */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <mpix.h>

enum { kRounds = 60, kMost = 16 };
static int rank, size;
static unsigned long order;

static void note(unsigned long what) {
  order = order * 31 + what + 1;
}

static void take_blocking(void) {
  MPI_Status status;
  int value, out = rank;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  note((unsigned long)(status.MPI_SOURCE * 100 + status.MPI_TAG));
  MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
               &status);
  note((unsigned long)status.MPI_SOURCE);
  MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
  note((unsigned long)status.MPI_SOURCE);
  MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void take_by_tests(void) {
  MPI_Status status;
  MPI_Message message;
  int value, flag;
  do {
    MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, &status);
    note(7);
  } while (!flag);
  MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  note((unsigned long)status.MPI_SOURCE);
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  do {
    MPI_Test(&request, &flag, &status);
    note(8);
  } while (!flag);
  note((unsigned long)status.MPI_SOURCE);
}

static void take_later(MPI_Request* persistent, int* into) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int values[3], completed, indices[3];
  MPI_Start(persistent);
  for (int i = 0; i < 3; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitany(3, requests, indices, statuses);
  note((unsigned long)(indices[0] * 100 + statuses[0].MPI_SOURCE));
  for (int left = 2; left > 0; left -= completed) {
    MPI_Testsome(3, requests, &completed, indices, statuses);
    for (int i = 0; i < completed; ++i) note((unsigned long)(indices[i] * 100 + statuses[i].MPI_SOURCE));
    note(9);
  }
  MPI_Wait(persistent, statuses);
  note((unsigned long)(statuses[0].MPI_SOURCE * 1000 + *into));
}

/* What it takes of each sender in a round is up to the order; all that was sent is taken in the end. */
static void take_all(void) {
  MPI_Request persistent;
  int into;
  MPI_Recv_init(&into, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &persistent);
  for (int round = 0; round < kRounds; ++round) {
    take_blocking();
    take_by_tests();
    take_later(&persistent, &into);
  }
  MPI_Request_free(&persistent);
}

static void send_all(void) {
  unsigned seed = (unsigned)(time(NULL) + rank);
  struct timeval now;
  gettimeofday(&now, NULL);
  seed += (unsigned)now.tv_usec;
  const int messages = kRounds * 9 / (size - 1) + (rank <= kRounds * 9 % (size - 1));
  for (int i = 0; i < messages; ++i) {
    if (rand_r(&seed) % 8 == 0) usleep((unsigned)rand_r(&seed) % 100);
    MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
}

static void print_surroundings(void) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length, together, worker, workers;
  unsigned random;
  MPI_Comm node;
  struct timespec now;
  MPI_Get_processor_name(name, &length);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &together);
  MPI_Comm_free(&node);
  MPIX_Get_worker(&worker, &workers);
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (getrandom(&random, sizeof random, 0) != sizeof random) abort();
  double part = 0.1 * rank + 1e-17, sum;
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("%d on %s with %d, worker %d of %d, %ld.%09ld, %.17g, %u, sum %.17g\n", rank, name, together, worker,
         workers, (long)now.tv_sec, now.tv_nsec, MPI_Wtime(), random, sum);
}

static void first(int late, int silent) {
  int value;
  if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (!silent || late != rank) {
    if (rank == late) usleep(100000);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

static void* send_one(void* unused) {
  int flag;
  MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  return unused;
}

static void look_at_clock(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  (void)MPI_Wtime();
}

static void behind_all(const char* what) {
  int value = 0;
  if (strcmp(what, "more") == 0) {
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  } else if (strcmp(what, "errors") == 0) {
    MPI_Request request, bad = (MPI_Request)&value, several[2] = {bad, bad};
    MPI_Status status;
    MPI_Comm part;
    int flag, index, indices[2], errors = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(&index, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &request);
    MPI_Test(&request, &flag, &status);
    for (int round = 0; round < 2; ++round) {
      errors += MPI_Iprobe(MPI_ANY_SOURCE, -5, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS;
      errors += MPI_Iprobe(size, 0, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS;
      errors += MPI_Test(&bad, &flag, &status) != MPI_SUCCESS;
      errors += MPI_Testall(2, several, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
      errors += MPI_Testany(2, several, &index, &flag, &status) != MPI_SUCCESS;
      errors += MPI_Testsome(2, several, &index, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
      errors += MPI_Waitany(2, several, &index, &status) != MPI_SUCCESS;
      errors += MPI_Request_get_status(bad, &flag, &status) != MPI_SUCCESS;
      errors += MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, -7, MPI_COMM_WORLD, &status) != MPI_SUCCESS;
      errors += MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, -7, MPI_COMM_WORLD, &several[0]) != MPI_SUCCESS;
      several[0] = bad;
      errors += MPI_Comm_split_type(MPI_COMM_WORLD, -77, 0, MPI_INFO_NULL, &part) != MPI_SUCCESS;
      MPI_Test(&request, &flag, &status);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    printf("%d errors\n", errors);
  } else if (strcmp(what, "callbacks") == 0) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(look_at_clock, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, -7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    printf("%d at %.9f\n", rank, MPI_Wtime());
  } else if (strcmp(what, "threads") == 0) {
    pthread_t thread;
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 && pthread_create(&thread, NULL, send_one, NULL) == 0) pthread_join(thread, NULL);
    if (rank == 1) MPI_Comm_size(MPI_COMM_WORLD, &value);
  } else if (strcmp(what, "atomics") == 0) {
    int counter = 0;
    MPI_Win win;
    MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&rank, &value, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  } else if (strcmp(what, "abort") == 0 && rank == 0) {
    MPI_Abort(MPI_COMM_WORLD, 1 + (int)(order % 8));
  }
}

int main(int argc, char** argv) {
  int provided;
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "first") == 0 || strcmp(what, "silent") == 0) {
    first(atoi(argv[2]), strcmp(what, "silent") == 0);
  } else {
    print_surroundings();
    if (rank == 0)
      take_all();
    else
      send_all();
    if (rank == 0) printf("order %lu\n", order);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    behind_all(what);
  }
  MPI_Finalize();
  return 0;
}
