/* Soak test: random traffic of every kind for as long as asked. All ranks draw one plan, step by step, from
 * one generator; how each rank sends, receives and waits within a step it draws from a generator of its own.
 * A step is a set of messages, a cancel, partitioned or persistent requests, a collective, the start of a
 * nonblocking collective that stays pending over later steps, or a change of communicators. All contents are
 * checked. Under a random order of one worker a run is repeated exactly by its seed.
 *
 *   soak [steps [seed [seconds]]]     0 steps: until the seconds are over
 */
#include "soak_messages.h"

/* ---- Collectives ---- */

enum collective_kind {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kScan,
  kExscan,
  kReduceScatter,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kAllgatherv,
  kCollectives
};

struct collective {
  enum collective_kind kind;
  int rank, size, root, count, salt; /* count: elements per rank */
  int *in, *out, *counts, *places;   /* counts and places: of an MPI_Allgatherv */
  struct layout layout;              /* of a broadcast's vector */
};

static int value(int rank, int i, int salt) {
  return rank * 13 + i * 7 + salt;
}
/* The sum over `ranks` ranks. */
static int sum(int ranks, int i, int salt) {
  return 13 * (ranks * (ranks - 1) / 2) + ranks * (i * 7 + salt);
}

static struct collective collective_draw(const struct slot* s) {
  struct collective c = {0};
  int most = kElements / s->size + 1;
  c.kind = (enum collective_kind)planned(kCollectives);
  c.rank = s->rank, c.size = s->size;
  c.root = (int)(random_next(&plan) % (uint32_t)s->size);
  c.count = (int)planned(planned(4) == 0 ? 2000 : 30);
  c.salt = (int)planned(1000);
  int vectors = c.kind >= kReduceScatter /* of all ranks' elements */, skipped = planned(4) != 0;
  if (vectors && c.count > most) c.count = c.count % most + 1;
  if (vectors && s->size > 200 && skipped) c.kind = kAllreduce, vectors = 0;
  size_t all = (size_t)c.count * (size_t)(vectors ? s->size : 1);
  c.in = check_malloc(all * sizeof(int));
  c.out = check_malloc((3 * all + 5) * sizeof(int)); /* room for any layout */
  memset(c.out, 0xa5, (3 * all + 5) * sizeof(int));
  for (size_t i = 0; i < all; i++) c.in[i] = value(c.rank, (int)i, c.salt);
  collectives++;
  return c;
}

/* How many elements rank r has in an MPI_Allgatherv. */
static int uneven(const struct collective* c, int r) {
  return (r + c->salt) % (c->count + 1);
}

static void allgatherv_prepare(struct collective* c) {
  c->counts = check_malloc((size_t)c->size * sizeof(int)),
  c->places = check_malloc((size_t)c->size * sizeof(int));
  for (int r = 0; r < c->size; r++) c->counts[r] = uneven(c, r), c->places[r] = r * c->count;
}

static void broadcast_prepare(struct collective* c) {
  c->layout = layout_create((int)chosen(kLayouts), c->count);
  for (int i = 0; c->rank == c->root && i < c->count; i++)
    c->out[position(c->layout.kind, c->count, i)] = value(c->root, i, c->salt);
}

/* The nonblocking form if there is a request. */
#define EITHER(blocking, nonblocking, ...) \
  CHECK_OK(request == NULL ? MPI_##blocking(__VA_ARGS__) : MPI_##nonblocking(__VA_ARGS__, request))

static void start_rooted(struct collective* c, MPI_Comm comm, MPI_Request* request) {
  int n = c->count;
  if (c->kind == kBcast) {
    broadcast_prepare(c);
    EITHER(Bcast, Ibcast, c->out, c->layout.count, c->layout.type, c->root, comm);
    layout_free(&c->layout);
  } else if (c->kind == kReduce) {
    EITHER(Reduce, Ireduce, c->in, c->out, n, MPI_INT, MPI_SUM, c->root, comm);
  } else if (c->kind == kGather) {
    EITHER(Gather, Igather, c->in, n, MPI_INT, c->out, n, MPI_INT, c->root, comm);
  } else {
    EITHER(Scatter, Iscatter, c->in, n, MPI_INT, c->out, n, MPI_INT, c->root, comm);
  }
}

static void collective_start(struct collective* c, MPI_Comm comm, MPI_Request* request) {
  int n = c->count;
  switch (c->kind) {
    case kBarrier:
      EITHER(Barrier, Ibarrier, comm);
      break;
    case kAllreduce:
      EITHER(Allreduce, Iallreduce, c->in, c->out, n, MPI_INT, MPI_SUM, comm);
      break;
    case kScan:
      EITHER(Scan, Iscan, c->in, c->out, n, MPI_INT, MPI_SUM, comm);
      break;
    case kExscan:
      EITHER(Exscan, Iexscan, c->in, c->out, n, MPI_INT, MPI_MAX, comm);
      break;
    case kReduceScatter:
      EITHER(Reduce_scatter_block, Ireduce_scatter_block, c->in, c->out, n, MPI_INT, MPI_SUM, comm);
      break;
    case kAllgather:
      EITHER(Allgather, Iallgather, c->in, n, MPI_INT, c->out, n, MPI_INT, comm);
      break;
    case kAlltoall:
      EITHER(Alltoall, Ialltoall, c->in, n, MPI_INT, c->out, n, MPI_INT, comm);
      break;
    case kAllgatherv:
      allgatherv_prepare(c);
      EITHER(Allgatherv, Iallgatherv, c->in, uneven(c, c->rank), MPI_INT, c->out, c->counts, c->places,
             MPI_INT, comm);
      break;
    default:
      start_rooted(c, comm, request);
  }
}

/* Element i of what rank `source` contributed for rank `target`. */
static int contributed(const struct collective* c, int source, int target, int i) {
  return value(source, c->kind == kAlltoall || c->kind == kScatter ? target * c->count + i : i, c->salt);
}

static void check_vectors(const struct collective* c) {
  for (int r = 0; r < c->size; r++) {
    int n = c->kind == kAllgatherv ? uneven(c, r) : c->count;
    for (int i = 0; i < n; i++) CHECK_EQ(c->out[r * c->count + i], contributed(c, r, c->rank, i));
  }
}

static void check_element(const struct collective* c, int i) {
  int got = c->out[i];
  switch (c->kind) {
    case kBcast:
      CHECK_EQ(c->out[position(c->layout.kind, c->count, i)], value(c->root, i, c->salt));
      break;
    case kReduce:
      if (c->rank == c->root) CHECK_EQ(got, sum(c->size, i, c->salt));
      break;
    case kAllreduce:
      CHECK_EQ(got, sum(c->size, i, c->salt));
      break;
    case kScan:
      CHECK_EQ(got, sum(c->rank + 1, i, c->salt));
      break;
    case kExscan:
      if (c->rank > 0) CHECK_EQ(got, value(c->rank - 1, i, c->salt));
      break;
    case kReduceScatter:
      CHECK_EQ(got, sum(c->size, c->rank * c->count + i, c->salt));
      break;
    default: /* kScatter */
      CHECK_EQ(got, contributed(c, c->root, c->rank, i));
  }
}

static void collective_finish(struct collective* c) {
  if (c->kind >= kAllgather || (c->kind == kGather && c->rank == c->root))
    check_vectors(c);
  else if (c->kind != kBarrier && c->kind != kGather)
    for (int i = 0; i < c->count; i++) check_element(c, i);
  free(c->in), free(c->out), free(c->counts), free(c->places);
}

static void step_collective(const struct slot* s) {
  struct collective c = collective_draw(s);
  collective_start(&c, s->comm, NULL);
  collective_finish(&c);
}

/* ---- Nonblocking collectives: pending over later steps, even after their communicator was freed ---- */

static struct collective outstanding[kOutstanding];
static MPI_Request outstanding_requests[kOutstanding];

static void finish_outstanding(int index) {
  CHECK(outstanding_requests[index] == MPI_REQUEST_NULL);
  collective_finish(&outstanding[index]);
}

static void finish_all_outstanding(void) {
  int active[kOutstanding];
  for (int i = 0; i < kOutstanding; i++) active[i] = outstanding_requests[i] != MPI_REQUEST_NULL;
  complete(kOutstanding, outstanding_requests);
  for (int i = 0; i < kOutstanding; i++)
    if (active[i]) finish_outstanding(i);
}

/* Sometimes; each rank does it in other steps. */
static void finish_some_outstanding(void) {
  int index, flag, count, indices[kOutstanding];
  switch (chosen(12)) {
    case 0:
      CHECK_OK(MPI_Waitany(kOutstanding, outstanding_requests, &index, MPI_STATUS_IGNORE));
      if (index != MPI_UNDEFINED) finish_outstanding(index);
      break;
    case 1:
    case 2:
      CHECK_OK(MPI_Testany(kOutstanding, outstanding_requests, &index, &flag, MPI_STATUS_IGNORE));
      if (flag && index != MPI_UNDEFINED) finish_outstanding(index);
      break;
    case 3:
      CHECK_OK(MPI_Testsome(kOutstanding, outstanding_requests, &count, indices, MPI_STATUSES_IGNORE));
      for (int i = 0; count != MPI_UNDEFINED && i < count; i++) finish_outstanding(indices[i]);
      break;
    case 4:
      finish_all_outstanding();
      break;
    default:
      break;
  }
}

static void step_start_collective(const struct slot* s) {
  int place = 0;
  while (place < kOutstanding && outstanding_requests[place] != MPI_REQUEST_NULL) place++;
  if (place == kOutstanding) {
    CHECK_OK(MPI_Waitany(kOutstanding, outstanding_requests, &place, MPI_STATUS_IGNORE));
    finish_outstanding(place);
  }
  outstanding[place] = collective_draw(s);
  collective_start(&outstanding[place], s->comm, &outstanding_requests[place]);
}

/* A persistent collective and persistent messages around the ring, started together. */
static void step_persistent(const struct slot* s) {
  int rounds = 1 + (int)planned(4), count = 1 + (int)planned(300), salt = (int)planned(1000);
  int *in = check_malloc((size_t)count * sizeof(int)), *out = check_malloc((size_t)count * sizeof(int));
  int token, got, left = (s->rank + s->size - 1) % s->size;
  MPI_Request requests[3];
  CHECK_OK(MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, s->comm, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Ssend_init(&token, 1, MPI_INT, (s->rank + 1) % s->size, tag_of(0), s->comm, &requests[1]));
  CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, left, tag_of(0), s->comm, &requests[2]));
  for (int round = 0; round < rounds; round++, messages += 2, collectives++) {
    for (int i = 0; i < count; i++) in[i] = value(s->rank, i, salt + round);
    token = s->rank * 100 + round, got = -1;
    CHECK_OK(MPI_Startall(3, requests));
    complete(3, requests);
    for (int i = 0; i < count; i++) CHECK_EQ(out[i], sum(s->size, i, salt + round));
    CHECK_EQ(got, left * 100 + round);
  }
  for (int i = 0; i < 3; i++) CHECK_OK(MPI_Request_free(&requests[i]));
  free(in), free(out);
}

/* ---- Communicators ---- */

static void slot_set(struct slot* s, MPI_Comm comm) {
  s->comm = comm;
  CHECK_OK(MPI_Comm_rank(comm, &s->rank));
  CHECK_OK(MPI_Comm_size(comm, &s->size));
  communicators++;
}

/* Frees a slot's communicator, which may have collectives pending, and makes another from that of any slot.
 */
static void step_communicators(void) {
  int index = 1 + (int)planned(kSlots - 1), from = planned(2) ? 0 : (int)planned(kSlots);
  int way = (int)planned(4), parts = 1 + (int)planned(planned(2) ? 4 : 40);
  struct slot parent = slots[from];
  MPI_Comm made;
  MPI_Request request;
  if (way == 0) {
    CHECK_OK(MPI_Comm_dup(parent.comm, &made));
  } else if (way == 1) {
    CHECK_OK(MPI_Comm_idup(parent.comm, &made, &request));
    complete(1, &request);
  } else {
    int color = way == 2 ? parent.rank % parts : parent.rank * parts / parent.size;
    CHECK_OK(MPI_Comm_split(parent.comm, color, planned(2) ? parent.rank : -parent.rank, &made));
  }
  CHECK_OK(MPI_Comm_free(&slots[index].comm));
  slot_set(&slots[index], made);
}

/* Two halves, an intercommunicator between them, traffic across, a merge. */
static void step_intercomm(const struct slot* s) {
  int salt = (int)planned(1000); /* draws come first: the plan goes on in ranks that are alone, too */
  if (s->size < 2) return;
  MPI_Comm half, inter, merged;
  int side = s->rank % 2, ours = (s->size + 1 - side) / 2, theirs = s->size - ours, rank, got, all;
  int common = ours < theirs ? ours : theirs;
  MPI_Request request;
  CHECK_OK(MPI_Comm_split(s->comm, side, 0, &half));
  CHECK_OK(MPI_Intercomm_create(half, 0, s->comm, 1 - side, kWindow * kTags, &inter));
  CHECK_OK(MPI_Comm_free(&half));
  CHECK_OK(MPI_Comm_rank(inter, &rank));
  int mine = value(rank, side, salt);
  CHECK_OK(MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, inter, &request));
  if (rank < common) {
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, rank, 1, &got, 1, MPI_INT, rank, 1, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(got, value(rank, 1 - side, salt));
  }
  CHECK_OK(MPI_Intercomm_merge(inter, side, &merged));
  CHECK_OK(MPI_Comm_free(&inter));
  complete(1, &request);
  CHECK_EQ(all, sum(theirs, 1 - side, salt));
  CHECK_OK(MPI_Comm_rank(merged, &got));
  CHECK_EQ(got, side * theirs + rank);
  CHECK_OK(MPI_Comm_free(&merged));
  messages += 2 * (rank < common), collectives++, communicators += 3;
}

/* ---- The run ---- */

static void run_step(void) {
  const struct slot* s = &slots[planned(kSlots)];
  uint32_t kind = planned(32);
  if (kind < 12)
    step_messages(s);
  else if (kind < 14)
    step_wildcards(s);
  else if (kind < 16)
    step_cancel(s);
  else if (kind < 18)
    step_partitioned(s);
  else if (kind < 20)
    step_persistent(s);
  else if (kind < 24)
    step_collective(s);
  else if (kind < 29)
    step_start_collective(s);
  else if (kind < 31)
    step_communicators();
  else
    step_intercomm(s);
  finish_some_outstanding();
}

/* No rank is more than half a window ahead; rank 0's clock tells when it is time to end. */
static int go_on(int steps, double end) {
  if (steps > 0 && step >= steps) return 0;
  int more = 1;
  if (step % 32 == 0) {
    more = steps > 0 || MPI_Wtime() < end;
    CHECK_OK(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  if (step % (kWindow / 2) == 0) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  return more;
}

static void report(double seconds) {
  long long mine[3] = {messages, collectives, communicators}, all[3];
  CHECK_OK(MPI_Reduce(mine, all, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  if (world_rank == 0)
    printf(
        "soak: %d ranks, %d steps, %.1f s: %lld messages, each sent and received; %lld collectives and %lld "
        "communicators, counted by each member\n",
        world_size, step, seconds, all[0] / 2, all[1], all[2]);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 200;
  plan = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  double start = MPI_Wtime(), end = start + (argc > 3 ? atof(argv[3]) : 60);
  own = plan * 1000003 + (uint64_t)world_rank * 7919 + 17;
  slot_set(&slots[0], MPI_COMM_WORLD);
  for (int i = 1; i < kSlots; i++) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, i == 1 ? 0 : world_rank / (4 << i), -i * world_rank, &comm));
    slot_set(&slots[i], comm);
  }
  for (int i = 0; i < kOutstanding; i++) outstanding_requests[i] = MPI_REQUEST_NULL;
  for (step = 0; go_on(steps, end); step++) run_step();
  finish_all_outstanding();
  for (int i = 1; i < kSlots; i++) CHECK_OK(MPI_Comm_free(&slots[i].comm));
  report(MPI_Wtime() - start);
  return check_end();
}
