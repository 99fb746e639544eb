/* Random epochs and operations against a naive model: every rank plays what all ranks do on arrays of its own. Each
 * origin has a part of every target's window, and there it has slots: puts and gets of an epoch use one each, accumulates
 * come to the same one several times, since they are done in order. Another part takes sums of everybody. */
#include "check.h"

enum { kSlots = 4, kSlot = 24, kCommon = 8, kMostOps = 6, kMostRanks = 64 };
typedef long long Element;
#define TYPE MPI_LONG_LONG

static uint64_t state; /* the same numbers in all ranks */
static int pick(int from, int to) {
  return from + (int)(random_next(&state) % (uint32_t)(to - from + 1));
}

static Element *model, *common_model;
static Element* slot_of(Element* memory, int origin, int slot) {
  return memory + ((size_t)origin * kSlots + (size_t)slot) * kSlot;
}
static size_t window_elements(void) {
  return (size_t)world_size * kSlots * kSlot + kCommon;
}

/* A layout: positions of elements in a slot, and the datatype that means them. */
typedef struct {
  int count, at[kSlot];
  MPI_Datatype type;
  int items; /* of the type */
} Layout;

static Layout make_layout(int count, int mine) {
  Layout layout = {.count = count, .type = TYPE, .items = count};
  const int kind = pick(0, 4);
  for (int i = 0; i < count; i++) layout.at[i] = i;
  if (kind == 0) return layout;
  if (kind == 1) { /* every second or third one */
    const int stride = count > 0 && 3 * count <= kSlot ? 3 : 2 * count <= kSlot ? 2 : 1;
    for (int i = 0; i < count; i++) layout.at[i] = stride * i;
    layout.items = 1;
    if (mine) CHECK_OK(MPI_Type_vector(count, 1, stride, TYPE, &layout.type));
  } else if (kind == 2) { /* in any order */
    int all[kSlot];
    for (int i = 0; i < kSlot; i++) all[i] = i;
    for (int i = 0; i < count; i++) {
      const int other = pick(i, kSlot - 1), taken = all[other];
      all[other] = all[i];
      layout.at[i] = all[i] = taken;
    }
    layout.items = 1;
    if (mine) CHECK_OK(MPI_Type_create_indexed_block(count, 1, layout.at, TYPE, &layout.type));
  } else if (kind == 3) { /* pairs with a hole behind them, several of a type */
    const int pairs = count / 2 < kSlot / 3 ? count / 2 : kSlot / 3;
    layout.count = 2 * pairs;
    layout.items = pairs;
    for (int i = 0; i < layout.count; i++) layout.at[i] = i / 2 * 3 + i % 2;
    if (mine) {
      MPI_Datatype two;
      CHECK_OK(MPI_Type_contiguous(2, TYPE, &two));
      CHECK_OK(MPI_Type_create_resized(two, 0, 3 * sizeof(Element), &layout.type));
      CHECK_OK(MPI_Type_free(&two));
    }
  } else { /* backwards, as a structure */
    const int first = count / 2, second = count - first;
    int lengths[2] = {first, second};
    MPI_Aint places[2] = {(MPI_Aint)sizeof(Element) * second, 0};
    MPI_Datatype types[2] = {TYPE, TYPE};
    for (int i = 0; i < count; i++) layout.at[i] = i < first ? second + i : i - first;
    layout.items = 1;
    if (mine) CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &layout.type));
  }
  if (mine) CHECK_OK(MPI_Type_commit(&layout.type));
  return layout;
}

static void drop_layout(Layout* layout, int mine) {
  if (mine && layout->type != TYPE) CHECK_OK(MPI_Type_free(&layout->type));
}

enum { kPut, kGet, kAccumulate, kGetAccumulate, kFetch, kSwap, kKinds };

static Element combine(MPI_Op op, Element old, Element new) {
  if (op == MPI_SUM) return old + new;
  if (op == MPI_MAX) return old > new ? old : new;
  if (op == MPI_BXOR) return old ^ new;
  if (op == MPI_REPLACE) return new;
  return old; /* MPI_NO_OP */
}
static MPI_Op any_op(int with_no_op) {
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
  return ops[pick(0, 3 + with_no_op)];
}

/* What an origin does: buffers that live until the epoch is over, and what must be in them then. */
typedef struct {
  Element origin[kSlot], result[kSlot], expected[kSlot], compare;
} Buffers;
static Buffers buffers[kMostOps];
static int used;

static void play(int origin, int target, MPI_Win win, int passive, MPI_Request* requests, int* pending) {
  const int mine = origin == world_rank, kind = pick(0, kKinds - 1);
  const int is_accumulate = kind >= kAccumulate;
  const int slot = is_accumulate ? 0 : 1 + used % (kSlots - 1);
  Element* there = slot_of(model + (size_t)target * window_elements(), origin, slot);
  const MPI_Aint disp = slot_of(0, origin, slot) - (Element*)0;
  const int with_request = passive && pick(0, 1);
  Buffers* b = &buffers[used++];
  for (int i = 0; i < kSlot; i++) {
    b->origin[i] = (Element)random_next(&state) - 1000000;
    b->result[i] = b->expected[i] = -i;
  }
  if (kind == kFetch || kind == kSwap) {
    const int at = pick(0, kSlot - 1);
    b->expected[0] = there[at];
    if (kind == kFetch) {
      const MPI_Op op = any_op(1);
      if (mine) CHECK_OK(MPI_Fetch_and_op(b->origin, b->result, TYPE, target, disp + at, op, win));
      there[at] = combine(op, there[at], b->origin[0]);
    } else {
      b->compare = pick(0, 1) ? there[at] : 12345;
      if (mine)
        CHECK_OK(MPI_Compare_and_swap(b->origin, &b->compare, b->result, TYPE, target, disp + at, win));
      if (there[at] == b->compare) there[at] = b->origin[0];
    }
    return;
  }
  Layout at_target = make_layout(pick(0, kSlot / 2), mine), at_origin, at_result;
  /* The other sides have as many elements; a layout of pairs may have to leave one out. */
  do {
    at_origin = make_layout(at_target.count, mine);
    if (at_origin.count == at_target.count) break;
    drop_layout(&at_origin, mine);
  } while (1);
  do {
    at_result = make_layout(at_target.count, mine);
    if (at_result.count == at_target.count) break;
    drop_layout(&at_result, mine);
  } while (1);
  const MPI_Op op = any_op(kind == kGetAccumulate);
  MPI_Request request = MPI_REQUEST_NULL;
  if (mine && kind == kPut) {
    CHECK_OK(with_request ? MPI_Rput(b->origin, at_origin.items, at_origin.type, target, disp,
                                     at_target.items, at_target.type, win, &request)
                          : MPI_Put(b->origin, at_origin.items, at_origin.type, target, disp, at_target.items,
                                    at_target.type, win));
  } else if (mine && kind == kGet) {
    CHECK_OK(with_request ? MPI_Rget(b->result, at_result.items, at_result.type, target, disp,
                                     at_target.items, at_target.type, win, &request)
                          : MPI_Get(b->result, at_result.items, at_result.type, target, disp, at_target.items,
                                    at_target.type, win));
  } else if (mine && kind == kAccumulate) {
    CHECK_OK(with_request ? MPI_Raccumulate(b->origin, at_origin.items, at_origin.type, target, disp,
                                            at_target.items, at_target.type, op, win, &request)
                          : MPI_Accumulate(b->origin, at_origin.items, at_origin.type, target, disp,
                                           at_target.items, at_target.type, op, win));
  } else if (mine) {
    CHECK_OK(with_request ? MPI_Rget_accumulate(b->origin, at_origin.items, at_origin.type, b->result,
                                                at_result.items, at_result.type, target, disp,
                                                at_target.items, at_target.type, op, win, &request)
                          : MPI_Get_accumulate(b->origin, at_origin.items, at_origin.type, b->result,
                                               at_result.items, at_result.type, target, disp, at_target.items,
                                               at_target.type, op, win));
  }
  if (request != MPI_REQUEST_NULL) requests[(*pending)++] = request;
  for (int i = 0; i < at_target.count; i++) {
    Element* element = &there[at_target.at[i]];
    if (kind == kGet || kind == kGetAccumulate) b->expected[at_result.at[i]] = *element;
    if (kind == kPut) *element = b->origin[at_origin.at[i]];
    if (is_accumulate) *element = combine(op, *element, b->origin[at_origin.at[i]]);
  }
  drop_layout(&at_target, mine);
  drop_layout(&at_origin, mine);
  drop_layout(&at_result, mine);
}

static void add_to_common(int origin, int target, MPI_Win win) {
  static Element summand[kMostOps];
  static int next;
  Element* place = &summand[next++ % kMostOps];
  const int at = pick(0, kCommon - 1);
  const Element value = pick(-100, 100);
  common_model[(size_t)target * kCommon + (size_t)at] += value;
  if (origin != world_rank) return;
  *place = value;
  CHECK_OK(MPI_Accumulate(place, 1, TYPE, target, (MPI_Aint)((size_t)world_size * kSlots * kSlot) + at, 1,
                          TYPE, MPI_SUM, win));
}

static void check_buffers(int count) {
  for (int k = 0; k < count; k++)
    for (int i = 0; i < kSlot; i++)
      if (buffers[k].result[i] != buffers[k].expected[i])
        check_failed(__FILE__, __LINE__, "operation %d: result %d is %lld, should be %lld", k, i,
                     buffers[k].result[i], buffers[k].expected[i]);
}

static void check_window(const Element* memory, int epoch) {
  const Element* expected = model + (size_t)world_rank * window_elements();
  const size_t own = (size_t)world_size * kSlots * kSlot;
  for (size_t i = 0; i < own; i++)
    if (memory[i] != expected[i])
      check_failed(__FILE__, __LINE__, "epoch %d: element %zu is %lld, should be %lld", epoch, i, memory[i],
                   expected[i]);
  for (int i = 0; i < kCommon; i++)
    CHECK_EQ(memory[own + (size_t)i], common_model[(size_t)world_rank * kCommon + (size_t)i]);
}

enum { kFence, kActive, kLock, kLockAll, kEpochs };

/* One epoch of everybody; an origin with PSCW or a lock has one target. */
static void run_epoch(int kind, MPI_Win win) {
  int targets[kMostRanks], mine = 0;
  MPI_Request requests[kMostOps];
  int pending = 0;
  for (int origin = 0; origin < world_size; origin++) targets[origin] = pick(0, world_size - 1);
  const int lock_type = pick(0, 1) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
  const int target = targets[world_rank];
  MPI_Group all, from, to;
  CHECK_OK(MPI_Win_get_group(win, &all));
  int origins[kMostRanks], count = 0;
  for (int origin = 0; origin < world_size; origin++)
    if (targets[origin] == world_rank) origins[count++] = origin;
  CHECK_OK(MPI_Group_incl(all, count, origins, &from));
  CHECK_OK(MPI_Group_incl(all, 1, &target, &to));
  if (kind == kFence) CHECK_OK(MPI_Win_fence(0, win));
  if (kind == kActive) {
    CHECK_OK(MPI_Win_post(from, 0, win));
    CHECK_OK(MPI_Win_start(to, 0, win));
  }
  if (kind == kLock) CHECK_OK(MPI_Win_lock(lock_type, target, 0, win));
  if (kind == kLockAll) CHECK_OK(MPI_Win_lock_all(0, win));
  for (int origin = 0; origin < world_size; origin++) {
    const int ops = pick(0, kMostOps);
    used = 0;
    /* Only as many puts and gets as there are slots for them. */
    for (int i = 0; i < ops && i < kSlots - 1; i++) {
      const int to_rank = kind == kFence || kind == kLockAll ? pick(0, world_size - 1) : targets[origin];
      if (i % 3 == 2)
        add_to_common(origin, to_rank, win);
      else
        play(origin, to_rank, win, kind >= kLock, requests, &pending);
      if (origin == world_rank && kind >= kLock && pending == 0) CHECK_OK(MPI_Win_flush_local(to_rank, win));
    }
    if (origin == world_rank) {
      mine = used;
      /* The others' operations are played on other buffers. */
      CHECK_OK(MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE));
      if (kind == kFence) {
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
      } else if (kind == kActive) {
        CHECK_OK(MPI_Win_complete(win));
      } else if (kind == kLock) {
        CHECK_OK(MPI_Win_unlock(target, win));
      } else {
        CHECK_OK(MPI_Win_unlock_all(win));
      }
      check_buffers(mine);
    }
  }
  if (kind == kActive) CHECK_OK(MPI_Win_wait(win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Group_free(&all));
  CHECK_OK(MPI_Group_free(&from));
  CHECK_OK(MPI_Group_free(&to));
}

/* Data that travels in pieces, with holes on either side or both. */
static void large(void) {
  enum { kCount = 60000 };
  int* memory;
  MPI_Win win;
  CHECK_OK(
      MPI_Win_allocate(3 * kCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  int* origin = (int*)check_malloc(3 * kCount * sizeof(int));
  int* result = (int*)check_malloc(3 * kCount * sizeof(int));
  MPI_Datatype holes;
  CHECK_OK(MPI_Type_vector(kCount / 3, 3, 6, MPI_INT, &holes));
  CHECK_OK(MPI_Type_commit(&holes));
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  for (int kind = 0; kind < 4; kind++) {
    const int holes_here = kind & 1, holes_there = kind >> 1;
    for (int i = 0; i < 3 * kCount; i++) {
      memory[i] = -1;
      origin[i] = world_rank * 1000 + i;
      result[i] = -2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(origin, holes_here ? 1 : kCount, holes_here ? holes : MPI_INT, right, 0,
                     holes_there ? 1 : kCount, holes_there ? holes : MPI_INT, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK_OK(MPI_Accumulate(origin, holes_here ? 1 : kCount, holes_here ? holes : MPI_INT, right, 0,
                            holes_there ? 1 : kCount, holes_there ? holes : MPI_INT, MPI_SUM, win));
    int one = 1; /* must not overtake it */
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, right, holes_there ? 2 * kCount - 4 : kCount - 1, 1, MPI_INT,
                            MPI_REPLACE, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK_OK(MPI_Get_accumulate(origin, holes_here ? 1 : kCount, holes_here ? holes : MPI_INT, result,
                                holes_here ? 1 : kCount, holes_here ? holes : MPI_INT, right, 0,
                                holes_there ? 1 : kCount, holes_there ? holes : MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i < kCount; i++) {
      const int at = holes_here ? i / 3 * 6 + i % 3 : i;
      const int sent = world_rank * 1000 + at;
      CHECK_EQ(result[at], i == kCount - 1 ? 1 : 2 * sent);
      if (holes_here && i % 3 == 2 && at + 1 < 2 * kCount) CHECK_EQ(result[at + 1], -2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win));
    for (int i = 0; i < kCount; i++) {
      const int at = holes_there ? i / 3 * 6 + i % 3 : i;
      const int sent = left * 1000 + (holes_here ? i / 3 * 6 + i % 3 : i);
      CHECK_EQ(memory[at], i == kCount - 1 ? 1 + sent : 3 * sent);
      if (holes_there && i % 3 == 2 && at + 1 < 2 * kCount) CHECK_EQ(memory[at + 1], -1);
    }
    CHECK_OK(MPI_Win_unlock(world_rank, win));
    for (int i = 0; i < 3 * kCount; i++) result[i] = -2;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(result, holes_here ? 1 : kCount, holes_here ? holes : MPI_INT, right, 0,
                     holes_there ? 1 : kCount, holes_there ? holes : MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < kCount - 1; i++) {
      const int at = holes_here ? i / 3 * 6 + i % 3 : i;
      CHECK_EQ(result[at], 3 * (world_rank * 1000 + at));
    }
  }
  CHECK_OK(MPI_Type_free(&holes));
  CHECK_OK(MPI_Win_free(&win));
  free(origin);
  free(result);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK(world_size <= kMostRanks);
  const int seeds = world_size <= 8 ? 4 : 1, epochs = 30;
  model = (Element*)check_malloc((size_t)world_size * window_elements() * sizeof(Element));
  common_model = (Element*)check_malloc((size_t)world_size * kCommon * sizeof(Element));
  for (int seed = 0; seed < seeds; seed++) {
    state = (uint64_t)(1 + seed) * 7919 + (uint64_t)world_size;
    Element* memory;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate((MPI_Aint)(window_elements() * sizeof(Element)), sizeof(Element), MPI_INFO_NULL,
                              MPI_COMM_WORLD, &memory, &win));
    for (size_t i = 0; i < window_elements(); i++) memory[i] = (Element)i;
    for (int r = 0; r < world_size; r++)
      for (size_t i = 0; i < window_elements(); i++) model[(size_t)r * window_elements() + i] = (Element)i;
    for (int r = 0; r < world_size; r++)
      for (int i = 0; i < kCommon; i++)
        common_model[r * kCommon + i] = (Element)((size_t)world_size * kSlots * kSlot) + i;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int epoch = 0; epoch < epochs; epoch++) {
      run_epoch(pick(0, kEpochs - 1), win);
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win));
      check_window(memory, epoch);
      CHECK_OK(MPI_Win_unlock(world_rank, win));
      MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Win_free(&win));
  }
  free(model);
  free(common_model);
  large();
  return check_end();
}
