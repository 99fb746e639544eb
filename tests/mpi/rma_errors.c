/* Misuse of one-sided communication: each an error class, and the window can still be used. */
#include "check.h"

static int handled, handled_code;
static void on_error(MPI_Win* win, int* code, ...) {
  (void)win;
  ++handled;
  handled_code = class_of(*code);
}

static void creation(void) {
  MPI_Win win;
  int memory[4], *base;
  CHECK_CLASS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_create(memory, sizeof memory, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
  CHECK_CLASS(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &win), MPI_ERR_ARG);
  if (ranks_sharing_memory() < world_size)
    CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_RMA_SHARED);
  MPI_Win none = MPI_WIN_NULL;
  CHECK_CLASS(MPI_Win_free(&none), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_create_dynamic((MPI_Info)(uintptr_t)1, MPI_COMM_WORLD, &win), MPI_ERR_INFO);
#endif
  (void)base;
}

/* What one member does wrong all members fail with, and nobody waits for anybody. */
static void creation_by_one(void) {
#ifdef MPI_ABI_VERSION
  const int wrong = world_rank == world_size - 1;
  int memory[4], *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_CLASS(
      MPI_Win_create(memory, wrong ? -1 : (MPI_Aint)sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
      MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, wrong ? NULL : &win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create_dynamic(wrong ? (MPI_Info)(uintptr_t)1 : MPI_INFO_NULL, MPI_COMM_WORLD, &win),
              MPI_ERR_INFO);
  /* More memory than there is, at one member: on its node, or on another one. */
  const MPI_Aint huge = (MPI_Aint)1 << 60;
  for (int i = 0; i < 3; i++) {
    CHECK_CLASS(MPI_Win_allocate(wrong ? huge : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL);
  }
  MPI_Comm node;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  CHECK_CLASS(MPI_Win_allocate_shared(huge, 1, MPI_INFO_NULL, node, &base, &win), MPI_ERR_NO_MEM);
  CHECK_OK(MPI_Comm_free(&node));
#endif
}

/* A call that fails leaves the epoch as it was; MPI_PROC_NULL has epochs as others have. */
static void epochs_after_errors(MPI_Win win) {
#ifdef MPI_ABI_VERSION
  int value = 5, result;
  MPI_Request request;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 99, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 99, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)); /* nothing has used the fence's epoch */
  CHECK_OK(MPI_Win_unlock(0, win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, world_size, 0, win), MPI_ERR_RANK);
  CHECK_OK(MPI_Get(&result, 1, MPI_INT, 0, 0, 1, MPI_INT, win)); /* it has not ended either */
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));

  CHECK_CLASS(MPI_Win_unlock(MPI_PROC_NULL, win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win)); /* both neighbours of an only rank */
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, win));
  CHECK_OK(MPI_Win_flush_all(win));
  CHECK_OK(MPI_Win_flush_local_all(win));
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
  CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
#else
  (void)win;
#endif
}

static void arguments(MPI_Win win, int* memory) {
  int value = 5, result = 0;
  MPI_Request request;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_CLASS(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, world_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, -100, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
#ifdef MPI_ABI_VERSION
  const int last = world_size - 1;
  CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, last, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(memory, 2, MPI_INT, last, 3, 2, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, last, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  /* Counts whose bytes are none of 64 bits: modulo 2^64 these are eight. */
  const MPI_Count wraps = ((MPI_Count)1 << 61) + 1;
  long long word = 5;
  CHECK_CLASS(MPI_Put_c(&word, 1, MPI_LONG_LONG, last, 0, wraps, MPI_LONG_LONG, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get_c(&word, 1, MPI_LONG_LONG, last, 0, wraps, MPI_LONG_LONG, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put_c(&word, wraps, MPI_LONG_LONG, last, 0, 1, MPI_LONG_LONG, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Get_c(&word, wraps, MPI_LONG_LONG, last, 0, wraps, MPI_LONG_LONG, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Accumulate_c(&word, wraps, MPI_LONG_LONG, last, 0, 1, MPI_LONG_LONG, MPI_SUM, win),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, last, 4, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, last, 9, win), MPI_ERR_RMA_RANGE);
  MPI_Datatype wide, mixed;
  CHECK_OK(MPI_Type_vector(2, 1, 4, MPI_INT, &wide));
  CHECK_CLASS(MPI_Put(memory, 2, MPI_INT, last, 0, 1, wide, win), MPI_ERR_TYPE); /* not committed */
  CHECK_OK(MPI_Type_commit(&wide));
  CHECK_CLASS(MPI_Put(memory, 2, MPI_INT, last, 0, 1, wide, win), MPI_ERR_RMA_RANGE);
  CHECK_OK(MPI_Type_free(&wide));
  CHECK_CLASS(MPI_Put(memory, 2, MPI_INT, last, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, last, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, last, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
  CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &mixed));
  CHECK_OK(MPI_Type_commit(&mixed));
  CHECK_CLASS(MPI_Accumulate(memory, 1, mixed, last, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Fetch_and_op(&value, memory, mixed, last, 0, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_free(&mixed));
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, last, 0, 1, MPI_INT, MPI_MINLOC, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
#endif
  (void)request, (void)result;
  /* Nothing has happened to the window. */
  CHECK_OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 4; i++) CHECK_EQ(memory[i], i);
  /* A block of no elements does not make a type one of several predefined types. */
  MPI_Datatype with_none;
  const int counts[2] = {1, 0};
  const MPI_Aint offsets[2] = {0, 8};
  const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
  CHECK_OK(MPI_Type_create_struct(2, counts, offsets, kinds, &with_none));
  CHECK_OK(MPI_Type_commit(&with_none));
  int one = 1;
  CHECK_OK(MPI_Accumulate(&one, 1, with_none, world_rank, 3, 1, with_none, MPI_SUM, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_EQ(memory[3], 4);
  CHECK_OK(MPI_Type_free(&with_none));
  value = -1;
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, world_rank, 2, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_EQ(memory[2], -1);
}

static void epochs(MPI_Win win) {
  int value = 1;
  MPI_Group all;
  CHECK_OK(MPI_Win_get_group(win, &all));
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 12345, win), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, world_size, 0, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
#endif
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
#ifdef MPI_ABI_VERSION
  if (world_size > 1)
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, world_size - 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC);
  MPI_Win copy = win;
  CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
#endif
  CHECK_OK(MPI_Win_unlock(0, win));
  MPI_Group me;
  CHECK_OK(MPI_Group_incl(all, 1, &world_rank, &me));
  CHECK_OK(MPI_Win_post(me, 0, win));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Win_post(me, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win), MPI_ERR_RMA_CONFLICT);
#endif
  CHECK_OK(MPI_Win_start(me, 0, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_wait(win));
  CHECK_OK(MPI_Group_free(&me));
  CHECK_OK(MPI_Group_free(&all));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void handlers(MPI_Win win) {
  MPI_Errhandler handler, kept, comm_handler;
  CHECK_OK(MPI_Win_create_errhandler(on_error, &handler));
  CHECK_OK(MPI_Win_set_errhandler(win, handler));
  CHECK_OK(MPI_Win_get_errhandler(win, &kept));
  CHECK(kept == handler);
  CHECK_OK(MPI_Errhandler_free(&kept));
  CHECK(MPI_Win_unlock(0, win) != MPI_SUCCESS);
  CHECK_EQ(handled, 1);
  CHECK_EQ(handled_code, MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  CHECK_EQ(handled, 2);
  CHECK_EQ(handled_code, MPI_ERR_OTHER);
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Errhandler_free(&handler));
#ifdef MPI_ABI_VERSION
  MPI_Comm_errhandler_function* none = NULL;
  CHECK_CLASS(MPI_Comm_create_errhandler(none, &comm_handler), MPI_ERR_ARG);
#endif
  (void)comm_handler;
}

static void dynamic(void) {
  MPI_Win win;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  long memory[8] = {0};
  CHECK_OK(MPI_Win_attach(win, memory, 4 * sizeof(long)));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Win_attach(win, &memory[3], 4 * sizeof(long)), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_detach(win, &memory[1]), MPI_ERR_RMA_ATTACH);
  MPI_Aint size, where, *all = (MPI_Aint*)check_malloc((size_t)world_size * sizeof(MPI_Aint));
  int unit;
  void* base;
  CHECK_CLASS(MPI_Win_shared_query(win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
  /* Outside of what is attached: of a target on another node known when it is waited for. */
  CHECK_OK(MPI_Get_address(&memory[3], &where));
  CHECK_OK(MPI_Allgather(&where, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  const int right = (world_rank + 1) % world_size;
  enum { kMany = 20000 }; /* so large that they are offered, or go in pieces */
  static long values[kMany] = {7, 8}, result[kMany];
  for (int kind = -2; kind < 5; kind++) {
    const int count = kind < 0 ? kMany : 2;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    int code =
        kind % 2 == 0 && kind <= 0 ? MPI_Put(values, count, MPI_LONG, right, all[right], count, MPI_LONG, win)
        : kind == 1 || kind == -1  ? MPI_Get(result, count, MPI_LONG, right, all[right], count, MPI_LONG, win)
        : kind == 2 ? MPI_Accumulate(values, 2, MPI_LONG, right, all[right], 2, MPI_LONG, MPI_SUM, win)
        : kind == 3 ? MPI_Fetch_and_op(values, result, MPI_LONG, right, all[right] + 8, MPI_SUM, win)
                    : MPI_Compare_and_swap(values, values, result, MPI_LONG, right, all[right] + 8, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(right, win);
    CHECK_EQ(class_of(code), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(values, 1, MPI_LONG, right, all[right], 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(right, win));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(memory[3], 7);
  CHECK_EQ(memory[4], 0);
  /* MPI_Win_complete tells what is known when it returns: what became of a get; of a put MPI_Win_free at the latest. */
  MPI_Group group, to, from;
  const int left = (world_rank + world_size - 1) % world_size;
  CHECK_OK(MPI_Win_get_group(win, &group));
  CHECK_OK(MPI_Group_incl(group, 1, &right, &to));
  CHECK_OK(MPI_Group_incl(group, 1, &left, &from));
  for (int puts = 0; puts < 2; puts++) {
    CHECK_OK(MPI_Win_post(from, 0, win));
    CHECK_OK(MPI_Win_start(to, 0, win));
    int code = puts ? MPI_Put(values, 2, MPI_LONG, right, all[right], 2, MPI_LONG, win)
                    : MPI_Get(result, 2, MPI_LONG, right, all[right], 2, MPI_LONG, win);
    const int completed = MPI_Win_complete(win);
    if (code == MPI_SUCCESS) code = completed;
    CHECK_OK(MPI_Win_wait(win));
    if (!puts) CHECK_EQ(class_of(code), MPI_ERR_RMA_RANGE);
    if (!puts) continue;
    CHECK_OK(MPI_Win_detach(win, memory));
    const int freed = MPI_Win_free(&win);
    if (code == MPI_SUCCESS) code = freed;
    CHECK_EQ(class_of(code), MPI_ERR_RMA_RANGE);
    CHECK(win == MPI_WIN_NULL);
  }
  CHECK_OK(MPI_Group_free(&to));
  CHECK_OK(MPI_Group_free(&from));
  CHECK_OK(MPI_Group_free(&group));
  free(all);
#else
  CHECK_OK(MPI_Win_detach(win, memory));
  CHECK_OK(MPI_Win_free(&win));
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  creation();
  creation_by_one();
  MPI_Win win;
  int* memory;
  CHECK_OK(MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  for (int i = 0; i < 4; i++) memory[i] = i;
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_FLAVOR);
  CHECK_CLASS(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR);
  int keyval = MPI_WIN_BASE;
  CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_SIZE, memory), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Win_free_keyval(&keyval), MPI_ERR_KEYVAL);
#endif
  epochs(win);
  epochs_after_errors(win);
  arguments(win, memory);
  handlers(win);
  CHECK_OK(MPI_Win_free(&win));
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
  CHECK_OK(MPI_Win_allocate(4, 1, info, MPI_COMM_WORLD, &memory, &win));
  CHECK_OK(MPI_Info_free(&info));
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
#endif
  CHECK_OK(MPI_Win_free(&win));
  dynamic();
  return check_end();
}
