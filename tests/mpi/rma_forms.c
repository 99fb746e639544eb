/* One-sided communication with large counts: windows that are made, and operations that are called, by their _c forms. MPI report, 12.2 to
 * 12.3. */
#include "check.h"

#define COUNT 50

static MPI_Win win;
static long* memory;
static int target; /* the next rank; this one is the one before it */

static long number(int rank, int i) {
  return 1000 * rank + i;
}

static void clear(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win));
  memset(memory, 0, COUNT * sizeof *memory);
  CHECK_OK(MPI_Win_unlock(world_rank, win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
}

/* What the rank before this one has left here, `times` times. */
static void check_left(int times) {
  CHECK_OK(MPI_Win_unlock(target, win));
  MPI_Barrier(MPI_COMM_WORLD);
  const int origin = (world_rank + world_size - 1) % world_size;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win));
  for (int i = 0; i < COUNT; i++) CHECK_EQ(memory[i], times * number(origin, i));
  CHECK_OK(MPI_Win_unlock(world_rank, win));
}

static void try_operations(void) {
  long mine[COUNT], got[COUNT];
  MPI_Request request;
  for (int i = 0; i < COUNT; i++) mine[i] = number(world_rank, i);

  clear();
  CHECK_OK(MPI_Put_c(mine, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, win));
  check_left(1);

  clear();
  CHECK_OK(MPI_Rput_c(mine, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_left(1);

  clear();
  CHECK_OK(MPI_Accumulate_c(mine, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, win));
  CHECK_OK(MPI_Raccumulate_c(mine, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_left(2);

  clear();
  CHECK_OK(MPI_Get_accumulate_c(mine, COUNT, MPI_LONG, got, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG,
                                MPI_SUM, win));
  CHECK_OK(MPI_Win_flush(target, win));
  for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], 0);
  CHECK_OK(MPI_Rget_accumulate_c(mine, COUNT, MPI_LONG, got, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG,
                                 MPI_SUM, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], mine[i]);

  memset(got, 0, sizeof got);
  CHECK_OK(MPI_Get_c(got, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, win));
  CHECK_OK(MPI_Win_flush(target, win));
  for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], 2 * mine[i]);

  memset(got, 0, sizeof got);
  CHECK_OK(MPI_Rget_c(got, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], 2 * mine[i]);
  check_left(2);
}

static void test_create(void) {
  memory = check_malloc(COUNT * sizeof *memory);
  CHECK_OK(
      MPI_Win_create_c(memory, COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
#ifdef MPI_ABI_VERSION
  CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
#endif
  try_operations();
  CHECK_OK(MPI_Win_free(&win));
  free(memory);
}

static void test_allocate(void) {
  CHECK_OK(MPI_Win_allocate_c(COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                              &win));
  try_operations();
  CHECK_OK(MPI_Win_free(&win));
}

/* Ranks that share memory look into each other's. */
static void test_shared(void) {
  MPI_Comm node;
  MPI_Aint size = 0, unit = 0;
  long *own = NULL, *others = NULL;
  int rank, ranks;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &ranks);
  MPI_Win window;
  CHECK_OK(
      MPI_Win_allocate_shared_c((rank + 1) * sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &window));
  CHECK_OK(MPI_Win_lock_all(0, window));
  for (int i = 0; i <= rank; i++) own[i] = number(rank, i);
  CHECK_OK(MPI_Win_sync(window));
  MPI_Barrier(node);
  CHECK_OK(MPI_Win_sync(window));
  const int other = (rank + 1) % ranks;
  CHECK_OK(MPI_Win_shared_query_c(window, other, &size, &unit, &others));
  CHECK_EQ(size, (other + 1) * sizeof *own);
  CHECK_EQ(unit, sizeof *own);
  for (int i = 0; i <= other; i++) CHECK_EQ(others[i], number(other, i));
  CHECK_OK(MPI_Win_unlock_all(window));
  CHECK_OK(MPI_Win_free(&window));
#ifdef MPI_ABI_VERSION
  /* As MPI 4.1 has it also of windows that are allocated, where the memory can be reached. */
  CHECK_OK(MPI_Win_allocate_c(sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &window));
  CHECK_OK(MPI_Win_lock_all(0, window));
  *own = number(rank, 7);
  CHECK_OK(MPI_Win_sync(window));
  MPI_Barrier(node);
  CHECK_OK(MPI_Win_sync(window));
  CHECK_OK(MPI_Win_shared_query_c(window, other, &size, &unit, &others));
  CHECK_EQ(size, sizeof *own);
  CHECK_EQ(*others, number(other, 7));
  CHECK_OK(MPI_Win_unlock_all(window));
  CHECK_OK(MPI_Win_free(&window));
#endif
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  target = (world_rank + 1) % world_size;
  test_create();
  test_allocate();
  test_shared();
  return check_end();
}
