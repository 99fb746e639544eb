/* The clocks of ranks and cores while ranks move, against what a rank knows itself: from one call that may suspend it to the next it
 * stays where it is, and its own clock goes as the wall's; what goes by between two such stretches may be any core's. Those
 * stretches are long, the gaps short. */
#include "check.h"

#include <mpix.h>

enum { kWorkers = 8, kRounds = 60 };
static const double kPiece = 50e-6; /* s */
static const double kRounding =
    1e-6; /* s: of sums of times of one clock; others may go a thousandth faster */

static int workers;

static int here(void) {
  int worker = -1;
  CHECK_OK(MPIX_Get_worker(&worker, NULL));
  CHECK(worker >= 0 && worker < workers);
  return worker;
}

/* What each core has counted; nobody is in the section. */
static void read_cores(double* cores) {
  for (int worker = 0; worker < workers; ++worker) {
    do {
      CHECK_OK(MPIX_Migrate(worker));
    } while (here() != worker); /* somebody may have taken the rank before it has gone on */
    cores[worker] = MPIX_Ptime();
  }
}

/* Runs for a while without a call that may suspend the rank, on some cores longer than on others, so that what is charged to another
 * one is missing somewhere; on which core, and the rank's clock before and after. */
struct piece {
  int worker;
  double begin, end;
};
static struct piece compute(void) {
  struct piece piece = {.worker = here()};
  const double outside = MPI_Wtime();
  piece.begin = MPIX_Rtime();
  const double inside = MPI_Wtime();
  while (MPI_Wtime() - inside < kPiece * (1 + 2 * piece.worker)) continue;
  const double inside_end = MPI_Wtime();
  piece.end = MPIX_Rtime();
  const double outside_end = MPI_Wtime();
  CHECK_EQ(here(), piece.worker);
  CHECK(piece.end - piece.begin >= (inside_end - inside) * 0.999 - kRounding);
  CHECK(piece.end - piece.begin <= (outside_end - outside) * 1.001 + kRounding);
  return piece;
}

/* Suspends the rank, and moves it, in different ways. */
static void give_way(int round) {
  const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  int got = -1;
  switch (round % 4) {
    case 0:
      CHECK_OK(MPIX_Migrate((here() + 1 + world_rank) % workers));
      break;
    case 1:
      CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
      CHECK_EQ(got, round);
      break;
    case 2:
      CHECK_OK(MPI_Allreduce(&round, &got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
      CHECK_EQ(got, round);
      break;
    default:
      CHECK_OK(MPIX_Yield());
  }
}

static void sum(double* values, int count) {
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

/* Every core has counted what ranks have computed there, and at most the gaps in addition; all cores together no less than ranks have
 * run in the section, and no more than they have run around it. */
static void check_cores(const double* before, const double* after, double* computed, double gaps,
                        double inner, double outer) {
  double all[] = {gaps, inner, outer}, cores = 0;
  sum(computed, workers);
  sum(all, 3);
  if (world_rank != 0) return;
  for (int worker = 0; worker < workers; ++worker) {
    const double counted = after[worker] - before[worker];
    cores += counted;
    printf("core %d: counted %.6f s, computed there %.6f s\n", worker, counted, computed[worker]);
    CHECK(counted >= computed[worker] - kRounding);
    CHECK(counted <= computed[worker] + all[0] + kRounding);
  }
  printf("gaps %.6f s; all cores %.6f s, all ranks %.6f to %.6f s\n", all[0], cores, all[1], all[2]);
  CHECK(cores >= all[1] - kRounding);
  CHECK(cores <= all[2] + kRounding);
}

/* One rank at a time runs on a worker: together they have run no longer than the workers were there. */
static void check_ranks(double begin, double end, double ran) {
  double times[2] = {-begin, end};
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  sum(&ran, 1);
  CHECK(ran <= workers * (times[1] + times[0]) * 1.001 + kRounding);
}

int main(int argc, char** argv) {
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
  CHECK_OK(MPIX_Get_worker(NULL, &workers));
  CHECK(workers <= kWorkers);
  double before[kWorkers] = {0}, after[kWorkers] = {0}, computed[kWorkers] = {0};
  if (world_rank == 0) read_cores(before);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  double gaps = 0;
  const double begin_wall = MPI_Wtime(), begin = MPIX_Rtime();
  double last = begin;
  MPIX_Start_processor_timer();
  const double inner = MPIX_Rtime();
  for (int round = 0; round < kRounds; ++round) {
    const struct piece piece = compute();
    CHECK(piece.begin >= last);
    gaps += piece.begin - last;
    computed[piece.worker] += piece.end - piece.begin;
    last = piece.end;
    give_way(round);
  }
  const double inner_end = MPIX_Rtime();
  MPIX_Stop_processor_timer();
  const double end = MPIX_Rtime(), end_wall = MPI_Wtime();
  gaps += end - last;
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank == 0) read_cores(after);
  check_cores(before, after, computed, gaps, inner_end - inner, end - begin);
  check_ranks(begin_wall, end_wall, end - begin);
  CHECK_OK(MPI_Finalize());
  return 0;
}
