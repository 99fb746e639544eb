/* A program as it is written for Adaptive MPI, with the one line that docs/design/load-balance.md names: the first half of the ranks has ten
 * times the work of the others, and asks for balance now and then; with the argument "never" it does not. To be run with a period so
 * long that nothing but that moves ranks. */
#include "check.h"

#include <mpix.h>

#define AMPI_Migrate(info) MPIX_Balance()

static void work(double seconds) {
  const double end = MPIX_Rtime() + seconds;
  while (MPIX_Rtime() < end) continue;
}

int main(int argc, char** argv) {
  MPI_Info hints;
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
  CHECK_OK(MPI_Info_create(&hints));
  CHECK_OK(MPI_Info_set(hints, "ampi_load_balance", "sync"));
  const int heavy = world_rank < world_size / 2, asks = argc == 1 || strcmp(argv[1], "never") != 0;
  int moves = 0, last, worker;
  CHECK_OK(MPIX_Get_worker(&last, NULL));
  for (int step = 0; step < 20; step++) {
    double mine = step, most = -1;
    work(heavy ? 2e-3 : 2e-4);
    CHECK_OK(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK(most == step);
    if (asks && step % 5 == 4) CHECK_OK(AMPI_Migrate(hints));
    CHECK_OK(MPIX_Get_worker(&worker, NULL));
    moves += worker != last;
    last = worker;
  }
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &moves, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(moves > 0, asks);
  CHECK_OK(MPI_Info_free(&hints));
  CHECK_OK(MPI_Finalize());
  return 0;
}
