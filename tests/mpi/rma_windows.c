/* Windows: how they are made, what they say of themselves, and every way to synchronize. */
#include "check.h"

static void check_attributes(MPI_Win win, void* base, MPI_Aint size, int unit, int flavor) {
  void* got_base = NULL;
  MPI_Aint* got_size;
  int *got_unit, *got_flavor, *got_model, flag = 0;
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &got_base, &flag));
  CHECK(flag && got_base == base);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &got_size, &flag));
  CHECK(flag && *got_size == size);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &got_unit, &flag));
  CHECK(flag && *got_unit == unit);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &got_flavor, &flag));
  CHECK(flag && *got_flavor == flavor);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &got_model, &flag));
  CHECK(flag);
#ifdef MPI_ABI_VERSION
  CHECK_EQ(*got_model, MPI_WIN_UNIFIED);
#endif
}

static int copies, deletes;
static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win, (void)keyval, (void)value;
  CHECK(extra == &copies);
  ++deletes;
  return MPI_SUCCESS;
}

static void names_groups_and_keys(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME];
  int length, keyval, flag, value = 7, *got;
  CHECK_OK(MPI_Win_set_name(win, "halo"));
  CHECK_OK(MPI_Win_get_name(win, name, &length));
  CHECK_STRING(name, "halo");
  CHECK_EQ(length, 4);
  MPI_Group group, world;
  CHECK_OK(MPI_Win_get_group(win, &group));
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_compare(group, world, &flag));
  CHECK_EQ(flag, MPI_IDENT);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, &copies));
  CHECK_OK(MPI_Win_get_attr(win, keyval, &got, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Win_set_attr(win, keyval, &value));
  CHECK_OK(MPI_Win_get_attr(win, keyval, &got, &flag));
  CHECK(flag && got == &value);
  CHECK_OK(MPI_Win_set_attr(win, keyval, &flag));
  CHECK_EQ(deletes, 1);
  CHECK_OK(MPI_Win_delete_attr(win, keyval));
  CHECK_EQ(deletes, 2);
  CHECK_OK(MPI_Win_set_attr(win, keyval, &value)); /* deleted with the window */
  CHECK_OK(MPI_Win_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
}

static void info_of(MPI_Win win) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL];
  int flag;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "accumulate_ordering", "none"));
  CHECK_OK(MPI_Win_set_info(win, info));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Win_get_info(win, &info));
  CHECK_OK(MPI_Info_get(info, "no_locks", sizeof value - 1, value, &flag));
#ifdef MPI_ABI_VERSION
  CHECK(flag);
  CHECK_STRING(value, "false");
  CHECK_OK(MPI_Info_get(info, "accumulate_ordering", sizeof value - 1, value, &flag));
  CHECK_STRING(value, "none");
#endif
  CHECK_OK(MPI_Info_free(&info));
}

/* Each to its right neighbour, by every kind of epoch. */
static void neighbours(MPI_Win win, volatile int* memory) {
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int value = 100 + world_rank;
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE, win));
  CHECK_EQ(memory[0], 100 + left);
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));

  MPI_Group all, to, from;
  CHECK_OK(MPI_Win_get_group(win, &all));
  CHECK_OK(MPI_Group_incl(all, 1, &right, &to));
  CHECK_OK(MPI_Group_incl(all, 1, &left, &from));
  for (int round = 0; round < 3; round++) {
    value = 200 + 10 * round + world_rank;
    CHECK_OK(MPI_Win_post(from, 0, win));
    CHECK_OK(MPI_Win_start(to, 0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    if (round == 1) {
      int flag = 0;
      while (!flag) CHECK_OK(MPI_Win_test(win, &flag));
    } else {
      CHECK_OK(MPI_Win_wait(win));
    }
    CHECK_EQ(memory[1], 200 + 10 * round + left);
  }
  CHECK_OK(MPI_Group_free(&all));
  CHECK_OK(MPI_Group_free(&to));
  CHECK_OK(MPI_Group_free(&from));

  value = 300 + world_rank;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 2, 1, MPI_INT, win));
  int back = -1;
  CHECK_OK(MPI_Win_flush(right, win));
  CHECK_OK(MPI_Get(&back, 1, MPI_INT, right, 2, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_flush_local(right, win));
  CHECK_EQ(back, value);
  CHECK_OK(MPI_Win_unlock(right, win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win));
  CHECK_EQ(memory[2], 300 + left);
  CHECK_OK(MPI_Win_unlock(world_rank, win));

  CHECK_OK(MPI_Win_lock_all(0, win));
  MPI_Request requests[2];
  value = 400 + world_rank;
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, right, 3, 1, MPI_INT, win, &requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Win_flush_all(win));
  CHECK_OK(MPI_Rget(&back, 1, MPI_INT, right, 3, 1, MPI_INT, win, &requests[0]));
  int one = 1;
  CHECK_OK(MPI_Raccumulate(&one, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win, &requests[1]));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(back, value);
  CHECK_OK(MPI_Win_flush_local_all(win));
  CHECK_OK(MPI_Win_sync(win));
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) CHECK_EQ(memory[4], world_size);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Exclusive locks exclude: everybody reads, counts up and writes. And counters that need none. */
static void counting(MPI_Win win, volatile long long* memory) {
  enum { kTimes = 20 };
  memory[0] = memory[1] = memory[2] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kTimes; i++) {
    const int target = (world_rank + i) % world_size;
    long long value;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    CHECK_OK(MPI_Get(&value, 1, MPI_LONG_LONG, target, 0, 1, MPI_LONG_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    value++;
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG_LONG, target, 0, 1, MPI_LONG_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
  }
  CHECK_OK(MPI_Win_lock_all(0, win));
  long long seen, last = -1, one = 1;
  for (int i = 0; i < kTimes; i++) {
    CHECK_OK(MPI_Fetch_and_op(&one, &seen, MPI_LONG_LONG, 0, 1, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(seen > last);
    last = seen;
    /* The same with compare and swap. */
    long long expected = 0, desired, found;
    for (;;) {
      desired = expected + 1;
      CHECK_OK(MPI_Compare_and_swap(&desired, &expected, &found, MPI_LONG_LONG, 0, 2, win));
      CHECK_OK(MPI_Win_flush(0, win));
      if (found == expected) break;
      expected = found;
    }
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win));
  CHECK_EQ(memory[0], kTimes);
  if (world_rank == 0) CHECK_EQ(memory[1], kTimes * world_size);
  if (world_rank == 0) CHECK_EQ(memory[2], kTimes * world_size);
  CHECK_OK(MPI_Win_unlock(world_rank, win));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void) {
  MPI_Comm node;
  int rank, size;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  for (int apart = 0; apart < 2; apart++) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false"));
    MPI_Win win;
    int *mine, unit;
    const MPI_Aint bytes = (MPI_Aint)sizeof(int) * (rank + 1) * (rank != 1);
    CHECK_OK(MPI_Win_allocate_shared(bytes, sizeof(int), info, node, &mine, &win));
    CHECK_OK(MPI_Info_free(&info));
    check_attributes(win, mine, bytes, sizeof(int), MPI_WIN_FLAVOR_SHARED);
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < rank + 1 && rank != 1; i++) mine[i] = 1000 * rank + i;
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(node);
    CHECK_OK(MPI_Win_sync(win));
    int* before = NULL;
    for (int r = 0; r < size; r++) {
      int* theirs;
      MPI_Aint length;
      CHECK_OK(MPI_Win_shared_query(win, r, &length, &unit, &theirs));
      CHECK_EQ(length, (MPI_Aint)sizeof(int) * (r + 1) * (r != 1));
      CHECK_EQ(unit, sizeof(int));
      if (!apart && r > 0 && length > 0) CHECK(theirs == before);
      if (length > 0) before = theirs + length / (MPI_Aint)sizeof(int);
      for (int i = 0; i < length / (MPI_Aint)sizeof(int); i++) CHECK_EQ(theirs[i], 1000 * r + i);
    }
    int* first;
    MPI_Aint length;
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &length, &unit, &first));
    CHECK_EQ(length, sizeof(int));
    CHECK_EQ(first[0], 0);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
  }
  CHECK_OK(MPI_Comm_free(&node));
}

/* mpi_minimum_memory_alignment: each member's own in windows that are not contiguous, else the beginning has the
 * largest; a member that says nothing, or nonsense, gets what is usual. */
static void aligned(void) {
#ifdef MPI_ABI_VERSION
  const char* const asked[] = {"4096", "2097152", "12", "128"};
  const MPI_Aint alignments[] = {4096, 2097152, 64, 128};
  MPI_Comm node;
  int rank, size;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  for (int kind = 0; kind < 3; kind++) {
    for (MPI_Aint bytes = 0; bytes <= 200000; bytes += 100000) {
      MPI_Info info;
      CHECK_OK(MPI_Info_create(&info));
      CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", asked[rank % 4]));
      CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", kind == 1 ? "true" : "false"));
      MPI_Win win;
      char* mine;
      if (kind == 0) {
        CHECK_OK(MPI_Win_allocate(bytes, 1, info, node, &mine, &win));
      } else {
        CHECK_OK(MPI_Win_allocate_shared(bytes, 1, info, node, &mine, &win));
      }
      CHECK_OK(MPI_Info_free(&info));
      if (bytes > 0) {
        const MPI_Aint largest = alignments[size > 2 ? 1 : size - 1];
        if (kind < 2) CHECK_EQ((uintptr_t)mine % (uintptr_t)alignments[rank % 4], 0);
        if (kind == 2 && rank == 0) CHECK_EQ((uintptr_t)mine % (uintptr_t)largest, 0);
        for (MPI_Aint i = 0; i < bytes; i++) CHECK_EQ(mine[i], 0);
        memset(mine, 1, (size_t)bytes);
      }
      char value[MPI_MAX_INFO_VAL];
      int flag;
      CHECK_OK(MPI_Win_get_info(win, &info));
      CHECK_OK(MPI_Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &flag));
      CHECK(flag);
      CHECK_EQ(atol(value), alignments[rank % 4]);
      CHECK_OK(MPI_Info_free(&info));
      CHECK_OK(MPI_Win_free(&win));
    }
  }
  CHECK_OK(MPI_Comm_free(&node));
#endif
}

static void dynamic(void) {
  MPI_Win win;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  long memory[4] = {-1, -2, -3, -4}, other[2];
  CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
  CHECK_OK(MPI_Win_attach(win, other, sizeof other));
  check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Aint mine, *all = (MPI_Aint*)check_malloc((size_t)world_size * sizeof(MPI_Aint));
  CHECK_OK(MPI_Get_address(&memory[1], &mine));
  CHECK_OK(MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  long values[2] = {world_rank, world_rank + 1};
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(values, 2, MPI_LONG, right, all[right], 2, MPI_LONG, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_EQ(memory[0], -1);
  CHECK_EQ(memory[1], left);
  CHECK_EQ(memory[2], left + 1);
  CHECK_EQ(memory[3], -4);
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_OK(MPI_Win_detach(win, other));
  CHECK_OK(MPI_Win_detach(win, memory));
  CHECK_OK(MPI_Win_free(&win));
  free(all);
}

/* A rank that waits in a loop for what another one puts lets it run, also on the same worker. */
static void polling(MPI_Win win, int* memory) {
  memory[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, win));
  const int right = (world_rank + 1) % world_size;
  int one = 1, seen = 0, ignored;
  if (world_rank == 0 && world_size > 1)
    CHECK_OK(MPI_Fetch_and_op(&one, &ignored, MPI_INT, right, 0, MPI_REPLACE, win));
  CHECK_OK(MPI_Win_flush_all(win));
  while (!seen && world_size > 1) {
    CHECK_OK(MPI_Fetch_and_op(&one, &seen, MPI_INT, world_rank, 0, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(world_rank, win));
  }
  if (world_rank != 0) CHECK_OK(MPI_Fetch_and_op(&one, &ignored, MPI_INT, right, 0, MPI_REPLACE, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int* memory;
  MPI_Win win;
  CHECK_OK(
      MPI_Win_allocate(16 * sizeof(long long), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  check_attributes(win, memory, 16 * sizeof(long long), sizeof(int), MPI_WIN_FLAVOR_ALLOCATE);
  for (int i = 0; i < 32; i++) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  names_groups_and_keys(win);
  info_of(win);
  neighbours(win, memory);
  polling(win, memory);
  CHECK_OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
  CHECK_EQ(deletes, 3);

  long long* own = (long long*)check_malloc(4 * sizeof(long long));
  CHECK_OK(
      MPI_Win_create(own, 4 * sizeof(long long), sizeof(long long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  check_attributes(win, own, 4 * sizeof(long long), sizeof(long long), MPI_WIN_FLAVOR_CREATE);
  counting(win, own);
  CHECK_OK(MPI_Win_free(&win));
  free(own);
  shared();
  aligned();
  dynamic();
  return check_end();
}
