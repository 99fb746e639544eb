/* MPIX_Migrate, MPIX_Balance, MPIX_Pin and MPIX_Get_worker. Argument: "moves" in a job with --balance manual, "stays" in one whose
 * ranks stay where they are, "streams" in one with any other: only the order of messages. */
#include "check.h"

#include <mpix.h>

static int workers;

static int here(void) {
  int worker = -1;
  CHECK_OK(MPIX_Get_worker(&worker, NULL));
  CHECK(worker >= 0 && worker < workers);
  return worker;
}

/* Messages overtake neither each other nor what a rank does elsewhere: small ones, large ones and synchronous ones, between ranks
 * that both move. */
static void keeps_order(void) {
  enum { kRounds = 300, kLarge = 3000 };
  static int data[kLarge];
  for (int round = 0; round < kRounds; ++round) {
    CHECK_OK(MPIX_Migrate((world_rank + round) % workers));
    CHECK_EQ(here(), (world_rank + round) % workers);
    const int count = round % 3 == 0 ? kLarge : 1 + round % 40;
    const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
    MPI_Request request;
    data[0] = world_rank * kRounds + round;
    data[count - 1] = data[0];
    if (round % 5 == 0) {
      CHECK_OK(MPI_Issend(data, count, MPI_INT, next, 3, MPI_COMM_WORLD, &request));
    } else {
      CHECK_OK(MPI_Isend(data, count, MPI_INT, next, 3, MPI_COMM_WORLD, &request));
    }
    if (round % 7 == 0) CHECK_OK(MPIX_Migrate((world_rank + round + 1) % workers));
    static int got[kLarge];
    CHECK_OK(MPI_Recv(got, kLarge, MPI_INT, world_size > 1 ? MPI_ANY_SOURCE : 0, 3, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    CHECK_EQ(got[0], previous * kRounds + round);
    CHECK_EQ(got[count - 1], got[0]);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (round % 10 == 0) {
      int sum = 0;
      CHECK_OK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
      CHECK_EQ(sum, world_size * (world_size - 1) / 2);
    }
  }
}

/* A stream of messages of all sizes stays in order, however often either end moves in between. */
static void keeps_streams(void) {
  enum { kRounds = 60, kAtOnce = 12, kLargest = 9000 };
  static char out[kAtOnce][kLargest], in[kLargest];
  static const int sizes[] = {4, 60, 300, 1024, 2000, kLargest};
  const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[kAtOnce];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kAtOnce; ++i) {
      const int number = round * kAtOnce + i, bytes = sizes[(number * 7 + number / 5) % 6];
      memcpy(out[i], &number, sizeof number);
      if (number % 11 == 0) {
        CHECK_OK(MPI_Issend(out[i], bytes, MPI_CHAR, next, 5, MPI_COMM_WORLD, &requests[i]));
      } else {
        CHECK_OK(MPI_Isend(out[i], bytes, MPI_CHAR, next, 5, MPI_COMM_WORLD, &requests[i]));
      }
      if ((number + world_rank) % 3 == 0) CHECK_OK(MPIX_Migrate((number / 3 + world_rank) % workers));
      if (number % 17 == 0) CHECK_OK(MPIX_Yield());
      if ((number + world_rank) % 29 == 0) { /* so long that an idle worker takes others meanwhile */
        const double enough = MPIX_Rtime() + 200e-6;
        while (MPIX_Rtime() < enough) continue;
      }
    }
    for (int i = 0; i < kAtOnce; ++i) {
      const int wanted = round * kAtOnce + i;
      MPI_Status status;
      int bytes, number;
      CHECK_OK(MPI_Recv(in, kLargest, MPI_CHAR, previous, 5, MPI_COMM_WORLD, &status));
      CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &bytes));
      memcpy(&number, in, sizeof number);
      CHECK_EQ(number, wanted);
      CHECK_EQ(bytes, sizes[(wanted * 7 + wanted / 5) % 6]);
      if ((wanted + world_rank) % 4 == 0) CHECK_OK(MPIX_Migrate((wanted / 4) % workers));
    }
    CHECK_OK(MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE));
  }
}

/* What belongs to the core keeps the rank there. */
static void is_held(void) {
  const int at = here(), other = (at + 1) % workers;
  CHECK_OK(MPIX_Pin(1));
  CHECK_OK(MPIX_Pin(1));
  CHECK_CLASS(MPIX_Migrate(other), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_EQ(here(), at);
  CHECK_OK(MPIX_Pin(0));
  MPIX_Counter counter;
  if (MPIX_Counter_open("page-faults", &counter) == MPI_SUCCESS) {
    CHECK_CLASS(MPIX_Migrate(other), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPIX_Counter_close(&counter));
  }
  CHECK_OK(MPIX_Migrate(other));
  CHECK_EQ(here(), other);
  /* A collective under way: the first rank comes last. */
  MPI_Request request;
  if (world_rank > 0) {
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPIX_Migrate(at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 4, MPI_COMM_WORLD));
  } else {
    for (int i = 1; i < world_size; ++i)
      CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, i, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  }
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The tools interface counts moves: of the rank, exactly, and of the cores, together those of all ranks there. */
static void counts_moves(void) {
  enum { kMoves = 90, kMost = 64 };
  const char* const names[] = {"tmpi_moves", "tmpi_core_moves"};
  unsigned long long own = 0, cores[kMost] = {0}, came = 0;
  int provided, counts[2], ranks;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[2];
  MPI_Comm node;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  CHECK_OK(MPI_Comm_size(node, &ranks));
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  CHECK_OK(MPI_T_pvar_session_create(&session));
  for (int i = 0; i < 2; ++i) {
    int index;
    CHECK_OK(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &counts[i]));
    CHECK_OK(MPI_T_pvar_start(session, handles[i]));
  }
  CHECK(counts[0] == 1 && counts[1] == workers && workers <= kMost);
  CHECK_OK(MPI_Barrier(node));
  for (int i = 0; i < kMoves; ++i) CHECK_OK(MPIX_Migrate((here() + 1) % workers));
  CHECK_OK(MPIX_Migrate(here())); /* is none */
  CHECK_OK(MPI_T_pvar_read(session, handles[0], &own));
  CHECK_EQ(own, kMoves);
  CHECK_OK(MPI_Barrier(node));
  CHECK_OK(MPI_T_pvar_read(session, handles[1], cores));
  for (int i = 0; i < workers; ++i) came += cores[i];
  CHECK_EQ(came, kMoves * ranks);
  CHECK_OK(MPI_Barrier(node));
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK_OK(MPI_T_finalize());
  CHECK_OK(MPI_Comm_free(&node));
}

/* The rank's clock goes on from where it was, and never faster than the wall's. */
static void keeps_its_time(void) {
  double wall = MPI_Wtime(), own = MPIX_Rtime(), last = own;
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(MPIX_Migrate((here() + 1) % workers));
    const double now = MPIX_Rtime();
    CHECK(now >= last);
    last = now;
  }
  CHECK(MPIX_Rtime() - own <= (MPI_Wtime() - wall) * 1.001 + 1e-4);
  /* A section goes on on another core, and each core has what was spent there: not more than the wall's time since the
   * first of all may have begun one. */
  double begun = MPI_Wtime();
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &begun, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
  MPIX_Start_processor_timer();
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(MPIX_Migrate((here() + 1) % workers));
    const double before = MPIX_Ptime(), enough = MPIX_Rtime() + 1e-5;
    while (MPIX_Rtime() < enough) continue;
    CHECK(MPIX_Ptime() - before >= 0.9e-5);
    CHECK(MPIX_Ptime() <= (MPI_Wtime() - begun) * 1.001 + 1e-4);
  }
  MPIX_Stop_processor_timer();
}

int main(int argc, char** argv) {
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK(argc == 2);
  CHECK_OK(MPIX_Get_worker(NULL, &workers));
  CHECK_CLASS(MPIX_Migrate(-1), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Migrate(workers), MPI_ERR_ARG);
  CHECK_OK(MPIX_Balance());
  if (strcmp(argv[1], "streams") == 0) {
    keeps_streams();
  } else if (strcmp(argv[1], "moves") == 0) {
    keeps_order();
    keeps_streams();
    is_held();
    counts_moves();
    keeps_its_time();
  } else {
    CHECK_CLASS(MPIX_Migrate(here()), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPIX_Pin(1));
    CHECK_OK(MPIX_Pin(0));
  }
  CHECK_OK(MPIX_Balance());
  CHECK_OK(MPI_Finalize());
  return 0;
}
