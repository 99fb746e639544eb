/* Every collective in all its forms: nonblocking, persistent (started several times), with large counts, each
 * against the blocking one, for several counts and roots, in place and not, regular and with gaps. MPI
 * report, 6.12 and 6.13. */
#include "check.h"

enum form { kBlocking, kBlockingLarge, kNonblocking, kNonblockingLarge, kPersistent, kPersistentLarge };

static MPI_Comm comm;
static int rank, size, count, root;

/* Arguments of the call under test. Arrays in both widths. */
static const void* send;
static void* recv;
static MPI_Datatype send_type, recv_type;
static int send_count, recv_count;
static int send_counts[64], recv_counts[64], send_displs[64], recv_displs[64];
static MPI_Datatype send_types[64], recv_types[64];
static MPI_Request request;
#if MPI_VERSION >= 4
static MPI_Count send_counts_c[64], recv_counts_c[64];
static MPI_Aint send_displs_c[64], recv_displs_c[64];
#endif

#define ARGS(...) __VA_ARGS__

#if MPI_VERSION >= 4
#define LARGE_CASES(Name, iname, LARGE)             \
  case kBlockingLarge:                              \
    return MPI_##Name##_c(LARGE, comm);             \
  case kNonblockingLarge:                           \
    return MPI_I##iname##_c(LARGE, comm, &request); \
  case kPersistentLarge:                            \
    return MPI_##Name##_init_c(LARGE, comm, MPI_INFO_NULL, &request);
#define PERSISTENT_CASE(Name, NARROW) \
  case kPersistent:                   \
    return MPI_##Name##_init(NARROW, comm, MPI_INFO_NULL, &request);
#else
#define LARGE_CASES(Name, iname, LARGE)
#define PERSISTENT_CASE(Name, NARROW)
#endif

#define COLLECTIVE(Name, iname, NARROW, LARGE)       \
  static int call_##iname(enum form form) {          \
    switch (form) {                                  \
      case kBlocking:                                \
        return MPI_##Name(NARROW, comm);             \
      case kNonblocking:                             \
        return MPI_I##iname(NARROW, comm, &request); \
        PERSISTENT_CASE(Name, ARGS(NARROW))          \
        LARGE_CASES(Name, iname, ARGS(LARGE))        \
      default:                                       \
        return MPI_ERR_INTERN;                       \
    }                                                \
  }
/* Functions whose arguments look the same in both widths. */
#define PLAIN(Name, iname, ...) COLLECTIVE(Name, iname, ARGS(__VA_ARGS__), ARGS(__VA_ARGS__))

static MPI_Op op;

PLAIN(Bcast, bcast, recv, recv_count, recv_type, root)
PLAIN(Gather, gather, send, send_count, send_type, recv, recv_count, recv_type, root)
COLLECTIVE(Gatherv, gatherv,
           ARGS(send, send_count, send_type, recv, recv_counts, recv_displs, recv_type, root),
           ARGS(send, send_count, send_type, recv, recv_counts_c, recv_displs_c, recv_type, root))
PLAIN(Scatter, scatter, send, send_count, send_type, recv, recv_count, recv_type, root)
COLLECTIVE(Scatterv, scatterv,
           ARGS(send, send_counts, send_displs, send_type, recv, recv_count, recv_type, root),
           ARGS(send, send_counts_c, send_displs_c, send_type, recv, recv_count, recv_type, root))
PLAIN(Allgather, allgather, send, send_count, send_type, recv, recv_count, recv_type)
COLLECTIVE(Allgatherv, allgatherv,
           ARGS(send, send_count, send_type, recv, recv_counts, recv_displs, recv_type),
           ARGS(send, send_count, send_type, recv, recv_counts_c, recv_displs_c, recv_type))
PLAIN(Alltoall, alltoall, send, send_count, send_type, recv, recv_count, recv_type)
COLLECTIVE(Alltoallv, alltoallv,
           ARGS(send, send_counts, send_displs, send_type, recv, recv_counts, recv_displs, recv_type),
           ARGS(send, send_counts_c, send_displs_c, send_type, recv, recv_counts_c, recv_displs_c, recv_type))
COLLECTIVE(Alltoallw, alltoallw,
           ARGS(send, send_counts, send_displs, send_types, recv, recv_counts, recv_displs, recv_types),
           ARGS(send, send_counts_c, send_displs_c, send_types, recv, recv_counts_c, recv_displs_c,
                recv_types))
PLAIN(Reduce, reduce, send, recv, recv_count, recv_type, op, root)
PLAIN(Allreduce, allreduce, send, recv, recv_count, recv_type, op)
COLLECTIVE(Reduce_scatter, reduce_scatter, ARGS(send, recv, recv_counts, recv_type, op),
           ARGS(send, recv, recv_counts_c, recv_type, op))
PLAIN(Reduce_scatter_block, reduce_scatter_block, send, recv, recv_count, recv_type, op)
PLAIN(Scan, scan, send, recv, recv_count, recv_type, op)
PLAIN(Exscan, exscan, send, recv, recv_count, recv_type, op)

/* ---- What each is called with ---- */

enum shape { kWhole, kRegular, kSendV, kRecvV, kBothV, kBothW, kReduction, kReduceScatter };
enum in_place { kNowhere, kAtRoot, kEverywhere };

static const struct collective {
  const char* name;
  int (*call)(enum form form);
  enum shape shape;
  enum in_place in_place; /* where MPI_IN_PLACE is allowed */
  int scatters;           /* it is recvbuf that may be MPI_IN_PLACE */
} collectives[] = {
    {"bcast", call_bcast, kWhole, kNowhere, 0},
    {"gather", call_gather, kRegular, kAtRoot, 0},
    {"gatherv", call_gatherv, kRecvV, kAtRoot, 0},
    {"scatter", call_scatter, kRegular, kAtRoot, 1},
    {"scatterv", call_scatterv, kSendV, kAtRoot, 1},
    {"allgather", call_allgather, kRegular, kEverywhere, 0},
    {"allgatherv", call_allgatherv, kRecvV, kEverywhere, 0},
    {"alltoall", call_alltoall, kRegular, kEverywhere, 0},
    {"alltoallv", call_alltoallv, kBothV, kEverywhere, 0},
    {"alltoallw", call_alltoallw, kBothW, kEverywhere, 0},
    {"reduce", call_reduce, kReduction, kAtRoot, 0},
    {"allreduce", call_allreduce, kReduction, kEverywhere, 0},
    {"reduce_scatter", call_reduce_scatter, kReduceScatter, kEverywhere, 0},
    {"reduce_scatter_block", call_reduce_scatter_block, kReduction, kEverywhere, 0},
    {"scan", call_scan, kReduction, kEverywhere, 0},
    {"exscan", call_exscan, kReduction, kEverywhere, 0},
};

static MPI_Datatype pair; /* two ints: an element of every buffer */

/* Elements that go from one rank to another in the variants with counts. Symmetric, since in place a rank
 * sends as much as it receives. */
static int between(int a, int b) {
  return (a + b) % 3 * count;
}
/* Elements of rank r where a count depends on one rank only. */
static int of(int r) {
  return r % 3 * count;
}

static void set_arrays(enum shape shape) {
  int sent = 0, received = 0;
  for (int r = 0; r < size; r++) {
    const int both = shape == kBothV || shape == kBothW;
    send_counts[r] = recv_counts[r] = both ? between(rank, r) : of(r);
    send_displs[r] = sent;
    recv_displs[r] = received;
    sent += send_counts[r] + (shape != kReduceScatter && r % 2);
    received += recv_counts[r] + 1;
    if (shape == kBothW) {
      send_displs[r] *= (int)(2 * sizeof(int));
      recv_displs[r] *= (int)(2 * sizeof(int));
    }
    send_types[r] = recv_types[r] = pair;
    if (shape == kBothW && r % 2) { /* the other half of the ranks gets the same bytes as single ints */
      send_types[r] = recv_types[r] = MPI_INT;
      send_counts[r] *= 2;
      recv_counts[r] *= 2;
    }
  }
  send_count = recv_count = count;
  if (shape == kRecvV) send_count = of(rank);
  if (shape == kSendV) recv_count = of(rank);
#if MPI_VERSION >= 4
  for (int r = 0; r < size; r++) {
    send_counts_c[r] = send_counts[r];
    recv_counts_c[r] = recv_counts[r];
    send_displs_c[r] = send_displs[r];
    recv_displs_c[r] = recv_displs[r];
  }
#endif
}

static int *input, *got, *want;
static size_t room; /* ints in each */

static void fill(uint32_t seed) {
  uint64_t state = seed * 7919u + (uint32_t)rank * 31u + 5u;
  for (size_t i = 0; i < room; i++) input[i] = (int)(random_next(&state) % 1000);
}

/* Lays the call's buffers out; the result is in `result`. */
static void use(const struct collective* c, int in_place, int* result) {
  const int here = in_place && (c->in_place == kEverywhere || rank == root);
  send = input;
  recv = result;
  if (c->shape == kWhole) {
    if (rank == root) memcpy(result, input, room * sizeof(int));
  } else if (here && c->scatters) {
    recv = MPI_IN_PLACE;
  } else if (here) {
    memcpy(result, input, room * sizeof(int));
    send = MPI_IN_PLACE;
  }
}

static void compare(const struct collective* c, const char* form) {
  if (memcmp(got, want, room * sizeof(int)) == 0) return;
  size_t i = 0;
  while (got[i] == want[i]) i++;
  check_failed(__FILE__, __LINE__, "%s %s: int %zu is %d, should be %d (count %d, root %d)", form, c->name, i,
               got[i], want[i], count, root);
}

static void clear(int* buffer) {
  for (size_t i = 0; i < room; i++) buffer[i] = -1;
}

static void blocking_result(const struct collective* c, int in_place) {
  clear(want);
  use(c, in_place, want);
  CHECK_OK(c->call(kBlocking));
}

static void check_started_once(const struct collective* c, int in_place, enum form form, const char* name) {
  clear(got);
  use(c, in_place, got);
  CHECK_OK(c->call(form));
  if (form == kNonblocking || form == kNonblockingLarge) {
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
  }
  compare(c, name);
}

#if MPI_VERSION >= 4
static void check_persistent(const struct collective* c, int in_place, enum form form, uint32_t rounds) {
  clear(got);
  use(c, in_place, got);
  CHECK_OK(c->call(form));
  const void* const persistent_send = send;
  void* const persistent_recv = recv;
  int flag = 0;
  CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); /* inactive */
  CHECK(flag && request != MPI_REQUEST_NULL);
  MPI_Request mine = request;
  for (uint32_t round = 0; round < rounds; round++) {
    fill(round + 100);
    blocking_result(c, in_place);
    clear(got);
    use(c, in_place, got);
    CHECK(send == persistent_send && recv == persistent_recv);
    CHECK_OK(MPI_Start(&mine));
    if (round == 1) {
      for (flag = 0; !flag;) CHECK_OK(MPI_Test(&mine, &flag, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_Wait(&mine, MPI_STATUS_IGNORE));
    }
    CHECK(mine != MPI_REQUEST_NULL);
    compare(c, "persistent");
  }
  CHECK_OK(MPI_Request_free(&mine));
  CHECK(mine == MPI_REQUEST_NULL);
}
#endif

static void check_collective(const struct collective* c, int in_place) {
  /* In place at the root only: elsewhere nothing new. Exscan of MPI_IN_PLACE is one of all. */
  if (in_place && c->in_place == kNowhere) return;
  const int reduces = c->shape == kReduction || c->shape == kReduceScatter;
  send_type = recv_type = reduces ? MPI_INT : pair;
  op = MPI_SUM;
  set_arrays(c->shape);
  fill(1);
  blocking_result(c, in_place);
  check_started_once(c, in_place, kNonblocking, "nonblocking");
#if MPI_VERSION >= 4
  check_started_once(c, in_place, kBlockingLarge, "large");
  check_started_once(c, in_place, kNonblockingLarge, "nonblocking large");
  check_persistent(c, in_place, kPersistent, 3);
  check_persistent(c, in_place, kPersistentLarge, 1);
#endif
}

/* Of the counts every step-th, the largest one among them. */
static void check_all(MPI_Comm on, int step) {
  static const int counts[] = {0, 1, 5, 700};
  comm = on;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  for (int i = step - 1; i < 4; i += step) {
    count = counts[i];
    root = (i * 5 + size - 1) % size;
    room = 2 * (size_t)size * (2 * (size_t)count + 2) + 16;
    input = check_malloc(room * sizeof(int));
    got = check_malloc(room * sizeof(int));
    want = check_malloc(room * sizeof(int));
    for (size_t c = 0; c < sizeof collectives / sizeof collectives[0]; c++) {
      check_collective(&collectives[c], 0);
      check_collective(&collectives[c], 1);
    }
    free(input);
    free(got);
    free(want);
  }
}

/* Nobody's barrier completes before the last one has started it, in either form. */
static void check_barriers(void) {
  MPI_Request pending;
  const int late = world_size - 1;
  int flag = 0;
  if (world_size == 1) return;
  if (world_rank == late) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &pending));
  if (world_rank == 0) {
    for (int i = 0; i < 10; i++) {
      CHECK_OK(MPI_Test(&pending, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
    }
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, late, 1, MPI_COMM_WORLD));
  }
  CHECK_OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
  CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &pending));
  for (int i = 0; i < 5; i++) {
    if (world_rank == late) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Start(&pending));
    if (world_rank == 0) {
      CHECK_OK(MPI_Test(&pending, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
      CHECK_OK(MPI_Send(NULL, 0, MPI_INT, late, 1, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(&pending));
#endif
}

int main(int argc, char** argv) {
  MPI_Comm reversed;
  check_begin(&argc, &argv);
  CHECK(world_size <= 64);
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  CHECK_OK(MPI_Type_commit(&pair));
  check_barriers();
  check_all(MPI_COMM_WORLD, 1);
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed));
  check_all(reversed, 2);
  CHECK_OK(MPI_Comm_free(&reversed));
  check_all(MPI_COMM_SELF, 1);
  CHECK_OK(MPI_Type_free(&pair));
  return check_end();
}
