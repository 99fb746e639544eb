/* One word that all ranks change at the same time by every accumulate there is: by single instructions, in loops around
 * one, in rows and under locks, and nothing is lost. */
#include "check.h"

enum { kRow = 16, kWord = 5 };
static int rounds = 400;
#ifdef MPI_ABI_VERSION
enum { kAskew = 4 };
#else
enum { kAskew = 0 };
#endif

static int has_cas_with_others(void) {
#ifdef MPI_ABI_VERSION
  return 1; /* elsewhere operations that are not the same must not meet (hint accumulate_ops) */
#else
  return 0;
#endif
}

/* Adds one to the word by compare-and-swap; the value that it had. */
static long long swap_in(MPI_Win win, MPI_Datatype type, MPI_Aint disp) {
  long long seen = 0;
  for (;;) {
    const long long expected = seen, next = expected + 1;
    const int expected4 = (int)expected, next4 = (int)next;
    int seen4;
    if (type == MPI_INT) {
      CHECK_OK(MPI_Compare_and_swap(&next4, &expected4, &seen4, type, 0, disp, win));
      CHECK_OK(MPI_Win_flush(0, win));
      seen = seen4;
    } else {
      CHECK_OK(MPI_Compare_and_swap(&next, &expected, &seen, type, 0, disp, win));
      CHECK_OK(MPI_Win_flush(0, win));
    }
    if (seen == expected) return seen;
  }
}

static long long number_at(const void* data, MPI_Datatype type) {
  int four;
  long long eight;
  double real;
  memcpy(&four, data, sizeof four);
  if (type == MPI_INT) return four;
  memcpy(&eight, data, sizeof eight);
  memcpy(&real, data, sizeof real);
  return type == MPI_DOUBLE ? (long long)real : eight;
}

/* What one rank adds to the word in `rounds` rounds, each in another way; fetched values only grow. */
static long long add_in_every_way(MPI_Win win, MPI_Datatype type, MPI_Aint unit) {
  const MPI_Aint disp = kWord * unit;
  static int ones4[kRow];
  static long long ones8[kRow];
  static double ones[kRow];
  char row[kRow * 8];
  for (int i = 0; i < kRow; i++) ones[i] = (double)(ones8[i] = ones4[i] = 1);
  const void* add = type == MPI_INT ? (const void*)ones4 : type == MPI_DOUBLE ? (const void*)ones : ones8;
  MPI_Datatype apart; /* the word and its second neighbour */
  CHECK_OK(MPI_Type_vector(2, 1, 2, type, &apart));
  CHECK_OK(MPI_Type_commit(&apart));
  long long least = 0, added = 0; /* the smallest that the word can be now */
  const int ways = has_cas_with_others() && type != MPI_DOUBLE ? 7 : 6;
  for (int i = 0; i < rounds; i++) {
    const int way = (i + world_rank) % ways;
    if (way == 0) CHECK_OK(MPI_Accumulate(add, 1, type, 0, disp, 1, type, MPI_SUM, win));
    if (way == 1) CHECK_OK(MPI_Get_accumulate(add, 1, type, row, 1, type, 0, disp, 1, type, MPI_SUM, win));
    if (way == 2) CHECK_OK(MPI_Accumulate(add, kRow, type, 0, 0, kRow, type, MPI_SUM, win));
    if (way == 3) CHECK_OK(MPI_Accumulate(add, 2, type, 0, disp, 1, apart, MPI_SUM, win));
    if (way == 4) CHECK_OK(MPI_Fetch_and_op(NULL, row, type, 0, disp, MPI_NO_OP, win));
    if (way == 5) CHECK_OK(MPI_Fetch_and_op(add, row, type, 0, disp, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    if (way == 1 || way >= 4) {
      const long long seen = way == 6 ? swap_in(win, type, disp) : number_at(row, type);
      if (seen < least)
        check_failed(__FILE__, __LINE__, "round %d, way %d: %lld, should be %lld at least", i, way, seen,
                     least);
      least = seen;
    }
    if (way == 4) continue;
    ++least;
    ++added;
  }
  CHECK_OK(MPI_Type_free(&apart));
  return added;
}

/* `askew`: no element is aligned, so that all are kept by locks. `exclusive`: one rank at a time. */
static void sums(MPI_Datatype type, int askew, int exclusive) {
  int unit;
  CHECK_OK(MPI_Type_size(type, &unit));
  char* memory;
  MPI_Win win;
  CHECK_OK(MPI_Alloc_mem((kRow + 4) * 8, MPI_INFO_NULL, &memory));
  memset(memory, 0, (kRow + 4) * 8);
  const MPI_Aint size = world_rank == 0 ? (kRow + 2) * 8 : 0;
  CHECK_OK(MPI_Win_create(memory + askew, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  long long added, all = 0;
  if (exclusive) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  } else {
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* all at the same time */
  }
  added = add_in_every_way(win, type, unit);
  CHECK_OK(exclusive ? MPI_Win_unlock(0, win) : MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Reduce(&added, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank == 0) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_EQ(number_at(memory + askew + kWord * unit, type), all);
    CHECK_OK(MPI_Win_unlock(0, win));
  }
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Free_mem(memory));
}

/* Everybody gives a token for the one that lies there: in the end each is somewhere, once. Both halves are the same, so
 * that one made of two is seen. */
static void tokens(int askew) {
  char* memory;
  MPI_Win win;
  CHECK_OK(MPI_Alloc_mem(24, MPI_INFO_NULL, &memory));
  memset(memory, 0, 24);
  CHECK_OK(MPI_Win_create(memory + askew, world_rank == 0 ? 16 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  const long long twice = 0x100000001;
  long long mine = twice * (world_rank + 1), got = 0;
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < rounds; i++) {
    if (i % 3 == 0)
      CHECK_OK(MPI_Get_accumulate(&mine, 1, MPI_LONG_LONG, &got, 1, MPI_LONG_LONG, 0, 8, 1, MPI_LONG_LONG,
                                  MPI_REPLACE, win));
    else
      CHECK_OK(MPI_Fetch_and_op(&mine, &got, MPI_LONG_LONG, 0, 8, MPI_REPLACE, win));
    CHECK_OK(MPI_Win_flush(0, win));
    mine = got;
    CHECK_EQ(mine % twice, 0);
    CHECK(mine / twice >= 0 && mine / twice <= world_size);
    CHECK_OK(MPI_Fetch_and_op(NULL, &got, MPI_LONG_LONG, 0, 8, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_EQ(got % twice, 0);
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  long long* all = (long long*)check_malloc((size_t)(world_size + 1) * sizeof *all);
  CHECK_OK(MPI_Gather(&mine, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
  if (world_rank == 0) {
    char* seen = (char*)calloc((size_t)world_size + 1, 1);
    memcpy(&all[world_size], memory + askew + 8, sizeof *all);
    for (int i = 0; i <= world_size; i++) CHECK_EQ(seen[all[i] / twice]++, 0);
    free(seen);
  }
  free(all);
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Free_mem(memory));
}

/* Operators that are loops: each rank turns bits of its own, and raises and lowers what the others do, too. What is
 * fetched of the largest only grows, and of the smallest only shrinks. */
static void by_loops(MPI_Datatype type, int bytes) {
  enum { kBits, kLargest, kSmallest, kSet, kWords };
  char* memory;
  MPI_Win win;
  CHECK_OK(MPI_Alloc_mem(kWords * 8, MPI_INFO_NULL, &memory));
  memset(memory, 0, kWords * 8);
  CHECK_OK(
      MPI_Win_create(memory, world_rank == 0 ? kWords * 8 : 0, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  const int mine = 1 << (world_rank % 30);
  long long most = 0, least = 0, word;
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < rounds; i++) {
    const int value4 = i * world_size + world_rank, less4 = -value4;
    const long long value8 = value4, less8 = less4, mine8 = mine;
    const void* value = bytes == 4 ? (const void*)&value4 : &value8;
    const void* less = bytes == 4 ? (const void*)&less4 : &less8;
    const void* bit = bytes == 4 ? (const void*)&mine : &mine8;
    CHECK_OK(MPI_Accumulate(bit, 1, type, 0, kBits, 1, type, MPI_BXOR, win));
    CHECK_OK(MPI_Fetch_and_op(bit, &word, type, 0, kSet, MPI_BOR, win));
    CHECK_OK(MPI_Win_flush(0, win));
    if (i > 0) CHECK((number_at(&word, type) & mine) != 0);
    CHECK_OK(MPI_Fetch_and_op(value, &word, type, 0, kLargest, MPI_MAX, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(number_at(&word, type) >= most);
    most = number_at(&word, type) > value4 ? number_at(&word, type) : value4;
    CHECK_OK(MPI_Fetch_and_op(less, &word, type, 0, kSmallest, MPI_MIN, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(number_at(&word, type) <= least);
    least = number_at(&word, type) < less4 ? number_at(&word, type) : less4;
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank == 0) {
    long long set = 0, turned = 0;
    for (int r = 0; r < world_size; r++) {
      set |= 1LL << (r % 30);
      if (rounds % 2 != 0) turned ^= 1LL << (r % 30);
    }
    const long long last = (long long)rounds * world_size - 1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_EQ(number_at(memory + kSet * bytes, type), set);
    CHECK_EQ(number_at(memory + kBits * bytes, type), turned);
    CHECK_EQ(number_at(memory + kLargest * bytes, type), last);
    CHECK_EQ(number_at(memory + kSmallest * bytes, type), -last);
    CHECK_OK(MPI_Win_unlock(0, win));
  }
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Free_mem(memory));
}

/* Words that are not eight or four bytes of one type, or lie at the end of a window: what is behind it stays. */
static void edges(void) {
  struct {
    long long words[2];
    int behind;
  } data = {{1, 2}, 77};
  MPI_Win win;
  CHECK_OK(MPI_Win_create(data.words, sizeof data.words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  const int right = (world_rank + 1) % world_size;
  long long one = 1, got = 0;
  short two[2] = {3, 4};
  double before = -1, seen = -1;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, right, 0, MPI_SUM, win)); /* opens the epoch */
  CHECK_OK(MPI_Put(two, 2, MPI_SHORT, right, 12, 2, MPI_SHORT, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_EQ(got, 1);
  CHECK_EQ(data.words[0], 2);
  CHECK_EQ((short)(data.words[1] >> 32), 3);
  CHECK_EQ(data.words[1] >> 48, 4);
  CHECK_EQ((int)data.words[1], 2);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* before the left neighbour goes on */
  CHECK_OK(MPI_Fetch_and_op(&before, &seen, MPI_DOUBLE, right, 8, MPI_REPLACE, win));
  CHECK_OK(MPI_Win_fence(0, win));
  memcpy(&seen, &data.words[1], sizeof seen);
  CHECK(seen == -1);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Fetch_and_op(&before, &seen, MPI_DOUBLE, right, 8, MPI_SUM, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK(seen == -1);
  memcpy(&seen, &data.words[1], sizeof seen);
  CHECK(seen == -2);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, right, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
  CHECK_CLASS(MPI_Put(&one, 1, MPI_LONG_LONG, right, 9, 1, MPI_LONG_LONG, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(&one, 8, MPI_BYTE, right, 16, 8, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_INT, right, 13, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Compare_and_swap(&one, &one, &got, MPI_LONG_LONG, right, -1, win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Fetch_and_op(&one, NULL, MPI_LONG_LONG, right, 0, MPI_SUM, win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_BYTE, right, 0, MPI_SUM, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_BYTE, right, 0, MPI_MAX, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&before, &seen, MPI_DOUBLE, right, 0, MPI_BOR, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, right, 0, MPI_OP_NULL, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(NULL, &got, MPI_LONG_LONG, right, 0, MPI_MAX, win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, right, 9, MPI_MAX, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Compare_and_swap(&one, &one, &got, MPI_DOUBLE, right, 0, win), MPI_ERR_TYPE);
  if (world_size > 1) CHECK_CLASS(MPI_Win_flush(world_rank, win), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_unlock(right, win));
#endif
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(data.behind, 77);
  CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (ranks_sharing_memory() < world_size) rounds = 60; /* each waits for another node */
  for (int exclusive = 0; exclusive < 2; exclusive++) {
    sums(MPI_INT, 0, exclusive);
    sums(MPI_LONG_LONG, 0, exclusive);
    sums(MPI_LONG_LONG, kAskew, exclusive);
    sums(MPI_DOUBLE, 0, exclusive);
  }
  tokens(0);
  tokens(kAskew);
  by_loops(MPI_INT, 4);
  by_loops(MPI_LONG_LONG, 8);
  edges();
  return check_end();
}
