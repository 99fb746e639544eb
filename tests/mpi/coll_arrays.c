/* Arrays of counts, displacements and datatypes that are spoiled and freed as soon as they may be: when
 * MPI_Request_get_status says that a nonblocking collective is complete, before its request is waited for, and
 * when a persistent request is freed. tmpi promises more: its operations have copies, so a program may free them
 * when the call returns, as mpi4py 3.1 does. Several operations at once, chunks of different sizes and of none.
 * MPI report, 6.12 and 6.13. */
#include "check.h"

#ifdef MPI_ABI_VERSION
enum { kAtOnce = 1 };
#else
enum { kAtOnce = 0 };
#endif
enum { kOutstanding = 12, kRounds = 60 };

enum kind {
  kReduceScatter,
  kInPlace,
  kAllgatherv,
  kGatherv,
  kScatterv,
  kAlltoallv,
  kAlltoallw,
  kInit,
  kKinds
};

/* A chunk for, or of, each rank, one behind the other. */
struct chunks {
  int *counts, *displs, *data;
  MPI_Datatype* types;
  int total;
};

struct operation {
  enum kind kind;
  int seed, scale, root;
  MPI_Request request;
  struct chunks send, recv, want;
  int *got, *wanted, length; /* what is checked in the end */
};

/* What rank `from` gives to rank `to`. All ranks must give as much to be reduced. */
static int length_of(const struct operation* o, int from, int to) {
  if (o->kind <= kInPlace) from = 0;
  return (from * 3 + to * 5 + o->seed) % 4 * o->scale;
}
static int value_of(const struct operation* o, int from, int to, int i) {
  return (from * 131 + to * 17 + i * 3 + o->seed) % 1000;
}

/* Those between `from` and `to`, of which -1 means each rank. */
static struct chunks make_chunks(const struct operation* o, int from, int to) {
  struct chunks made;
  const size_t n = (size_t)world_size;
  made.counts = check_malloc(n * sizeof(int));
  made.displs = check_malloc(n * sizeof(int));
  made.types = check_malloc(n * sizeof(MPI_Datatype));
  made.total = 0;
  for (int r = 0; r < world_size; r++) {
    made.counts[r] = length_of(o, from < 0 ? r : from, to < 0 ? r : to);
    made.displs[r] = made.total;
    made.types[r] = MPI_INT;
    made.total += made.counts[r];
  }
  made.data = check_malloc((size_t)made.total * sizeof(int));
  for (int r = 0; r < world_size; r++)
    for (int i = 0; i < made.counts[r]; i++)
      made.data[made.displs[r] + i] = value_of(o, from < 0 ? r : from, to < 0 ? r : to, i);
  return made;
}

static void in_bytes(struct chunks* chunks) {
  for (int r = 0; r < world_size; r++) chunks->displs[r] *= (int)sizeof(int);
}

static void clear(struct chunks* chunks) {
  for (int i = 0; i < chunks->total; i++) chunks->data[i] = -1;
}

/* Nobody may read the arrays any more. */
static void spoil(struct chunks* chunks) {
  if (chunks->counts == NULL) return;
  for (int r = 0; r < world_size; r++) {
    chunks->counts[r] = chunks->displs[r] = 0x70000000;
    chunks->types[r] = MPI_DATATYPE_NULL;
  }
  free(chunks->counts);
  free(chunks->displs);
  free(chunks->types);
  chunks->counts = NULL;
}

static void start_reduce_scatter(struct operation* o) {
  const int in_place = o->kind == kInPlace;
  o->send = make_chunks(o, world_rank, -1);
  o->want = make_chunks(o, 0, -1);
  o->length = o->want.counts[world_rank];
  o->wanted = o->want.data;
  for (int i = 0; i < o->length; i++) {
    o->wanted[i] = 0;
    for (int r = 0; r < world_size; r++) o->wanted[i] += value_of(o, r, world_rank, i);
  }
  o->recv = make_chunks(o, 0, -1);
  o->got = in_place ? o->send.data : o->recv.data;
  CHECK_OK(MPI_Ireduce_scatter(in_place ? MPI_IN_PLACE : o->send.data, o->got, o->recv.counts, MPI_INT,
                               MPI_SUM, MPI_COMM_WORLD, &o->request));
}

static void start_gather(struct operation* o) {
  o->want = make_chunks(o, -1, 0);
  o->recv = make_chunks(o, -1, 0);
  clear(&o->recv);
  o->got = o->recv.data;
  o->wanted = o->want.data;
  const int *mine = o->want.data + o->want.displs[world_rank], count = o->want.counts[world_rank];
  if (o->kind == kAllgatherv) {
    o->length = o->want.total;
    CHECK_OK(MPI_Iallgatherv(mine, count, MPI_INT, o->got, o->recv.counts, o->recv.displs, MPI_INT,
                             MPI_COMM_WORLD, &o->request));
  } else {
    o->length = world_rank == o->root ? o->want.total : 0;
    CHECK_OK(MPI_Igatherv(mine, count, MPI_INT, o->got, o->recv.counts, o->recv.displs, MPI_INT, o->root,
                          MPI_COMM_WORLD, &o->request));
  }
}

static void start_scatterv(struct operation* o) {
  o->send = make_chunks(o, o->root, -1);
  o->want = make_chunks(o, o->root, -1);
  o->recv = make_chunks(o, o->root, -1);
  clear(&o->recv);
  o->got = o->recv.data;
  o->wanted = o->want.data + o->want.displs[world_rank];
  o->length = o->want.counts[world_rank];
  CHECK_OK(MPI_Iscatterv(o->send.data, o->send.counts, o->send.displs, MPI_INT, o->got, o->length, MPI_INT,
                         o->root, MPI_COMM_WORLD, &o->request));
}

static void start_exchange(struct operation* o) {
  struct chunks *send = &o->send, *recv = &o->recv;
  *send = make_chunks(o, world_rank, -1);
  *recv = make_chunks(o, -1, world_rank);
  o->want = make_chunks(o, -1, world_rank);
  clear(recv);
  o->got = recv->data;
  o->wanted = o->want.data;
  o->length = o->want.total;
  if (o->kind == kAlltoallv) {
    CHECK_OK(MPI_Ialltoallv(send->data, send->counts, send->displs, MPI_INT, recv->data, recv->counts,
                            recv->displs, MPI_INT, MPI_COMM_WORLD, &o->request));
    return;
  }
  in_bytes(send);
  in_bytes(recv);
#if MPI_VERSION >= 4
  if (o->kind == kInit) {
    CHECK_OK(MPI_Alltoallw_init(send->data, send->counts, send->displs, send->types, recv->data, recv->counts,
                                recv->displs, recv->types, MPI_COMM_WORLD, MPI_INFO_NULL, &o->request));
    return;
  }
#endif
  CHECK_OK(MPI_Ialltoallw(send->data, send->counts, send->displs, send->types, recv->data, recv->counts,
                          recv->displs, recv->types, MPI_COMM_WORLD, &o->request));
}

static void start(struct operation* o, enum kind kind, uint64_t* random) {
  *o = (struct operation){.kind = kind, .seed = (int)(random_next(random) % 1000)};
  o->scale = random_next(random) % 3 == 0 ? 700 : 1;
  o->root = (int)(random_next(random) % (uint32_t)world_size);
  switch (kind) {
    case kReduceScatter:
    case kInPlace:
      start_reduce_scatter(o);
      break;
    case kAllgatherv:
    case kGatherv:
      start_gather(o);
      break;
    case kScatterv:
      start_scatterv(o);
      break;
    default:
      start_exchange(o);
  }
  if (kAtOnce) {
    spoil(&o->send);
    spoil(&o->recv);
  }
#if MPI_VERSION >= 4
  if (kind == kInit) CHECK_OK(MPI_Start(&o->request));
#endif
}

static void finish(struct operation* o) {
  int complete = 0;
  while (!complete) CHECK_OK(MPI_Request_get_status(o->request, &complete, MPI_STATUS_IGNORE));
  if (o->kind != kInit || MPI_VERSION < 4) {
    spoil(&o->send);
    spoil(&o->recv);
  }
  CHECK_OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
  if (o->request != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(&o->request));
  for (int i = 0; i < o->length; i++) CHECK_EQ(o->got[i], o->wanted[i]);
  struct chunks* all[] = {&o->send, &o->recv, &o->want};
  for (int i = 0; i < 3; i++) {
    spoil(all[i]);
    free(all[i]->data);
  }
}

int main(int argc, char** argv) {
  static struct operation operations[kOutstanding];
  uint64_t random = 17, own;
  check_begin(&argc, &argv);
  own = (uint64_t)world_rank;
  for (int round = 0; round < kRounds; round++) {
    /* A kind alone in the first rounds. */
    const int many = round < 2 * kKinds ? 1 : kOutstanding;
    for (int i = 0; i < many; i++) {
      const int kind = round < 2 * kKinds ? round % kKinds : (int)(random_next(&random) % kKinds);
      start(&operations[i], (enum kind)kind, &random);
    }
    /* Each rank in another order. */
    const int first = (int)(random_next(&own) % (uint32_t)many);
    for (int i = 0; i < many; i++) finish(&operations[(first + i) % many]);
  }
  return check_end();
}
