/* The tools interface (MPI_T): performance variables show what the program is known to do: the ways of messages, queues,
 * waits and switches, idle time, ready ranks, use of the stack, the network's protocols. docs/reference/tools-interface.md. */
#include "tool_helpers.h"

#include <mpix.h>

enum { kMost = 16, kGo = 21, kSilent = 22, kReleased = 23 };

/* Variables of one session, all started. */
struct watch {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[kMost];
  int counts[kMost], size;
};

static void watch_begin(struct watch* watch, MPI_Comm comm, const char* const* names) {
  static const int classes[] = {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE,
                                MPI_T_PVAR_CLASS_TIMER,   MPI_T_PVAR_CLASS_LEVEL,
                                MPI_T_PVAR_CLASS_STATE,   MPI_T_PVAR_CLASS_HIGHWATERMARK};
  CHECK_OK(MPI_T_pvar_session_create(&watch->session));
  for (watch->size = 0; names[watch->size] != NULL; watch->size++) {
    int index = -1;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0] && index < 0; i++)
      MPI_T_pvar_get_index(names[watch->size], classes[i], &index);
    CHECK(index >= 0);
    CHECK_OK(MPI_T_pvar_handle_alloc(watch->session, index, &comm, &watch->handles[watch->size],
                                     &watch->counts[watch->size]));
  }
  CHECK_OK(MPI_T_pvar_start(watch->session, MPI_T_PVAR_ALL_HANDLES));
}

static unsigned long long number(struct watch* watch, int which) {
  unsigned long long value = 0;
  CHECK_EQ(watch->counts[which], 1);
  CHECK_OK(MPI_T_pvar_read(watch->session, watch->handles[which], &value));
  return value;
}

static double seconds(struct watch* watch, int which, int element) {
  double* const values = check_malloc(sizeof(double) * (size_t)watch->counts[which]);
  CHECK(element < watch->counts[which]);
  CHECK_OK(MPI_T_pvar_read(watch->session, watch->handles[which], values));
  const double value = values[element];
  free(values);
  return value;
}

static void watch_end(struct watch* watch) {
  CHECK_OK(MPI_T_pvar_session_free(&watch->session));
}

static const char* option(const char* name) {
  static char text[kText];
  int count;
  MPI_T_cvar_handle handle = control(name, MPI_COMM_NULL, &count);
  CHECK(count <= kText);
  CHECK_OK(MPI_T_cvar_read(handle, text));
  CHECK_OK(MPI_T_cvar_handle_free(&handle));
  return text;
}

/* ---- Messages to oneself: which way each takes is certain. */

static void ways(void) {
  enum { kSmall = 1000 };
  const int large = (int)number_of("tmpi_limit_eager_node") + 1;
  static const char* const names[] = {
      "tmpi_sent_direct",      "tmpi_sent_direct_bytes",   "tmpi_sent_eager",
      "tmpi_sent_eager_bytes", "tmpi_sent_rendezvous",     "tmpi_sent_rendezvous_bytes",
      "tmpi_messages_sent",    "tmpi_bytes_sent",          "tmpi_messages_received",
      "tmpi_bytes_received",   "tmpi_messages_unexpected", "tmpi_unexpected_messages",
      "tmpi_unexpected_bytes", "tmpi_posted_receives",     NULL};
  enum {
    kDirect,
    kDirectBytes,
    kEager,
    kEagerBytes,
    kAsked,
    kAskedBytes,
    kSent,
    kSentBytes,
    kReceived,
    kReceivedBytes,
    kEarly,
    kWaiting,
    kWaitingBytes,
    kPosted
  };
  struct watch watch;
  MPI_Request request;
  char *out = check_malloc((size_t)large), *in = check_malloc((size_t)large);
  memset(out, 1, (size_t)large);
  watch_begin(&watch, MPI_COMM_NULL, names);
  const unsigned long long waiting = number(&watch, kWaiting), bytes = number(&watch, kWaitingBytes);
  const unsigned long long posted = number(&watch, kPosted), early = number(&watch, kEarly);

  CHECK_OK(MPI_Irecv(in, large, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request));
  CHECK(number(&watch, kPosted) >= posted + 1);
  CHECK_OK(MPI_Send(out, 70, MPI_CHAR, 0, 1, MPI_COMM_SELF));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(number(&watch, kDirect), 1);
  CHECK_EQ(number(&watch, kDirectBytes), 70);

  for (int i = 0; i < 3; i++) CHECK_OK(MPI_Send(out, kSmall, MPI_CHAR, 0, 2, MPI_COMM_SELF));
  CHECK(number(&watch, kWaiting) >= waiting + 3);
  CHECK(number(&watch, kWaitingBytes) >= bytes + 3 * kSmall);
  CHECK(number(&watch, kEarly) >= early + 3);
  CHECK_EQ(number(&watch, kReceived), 1);
  for (int i = 0; i < 3; i++)
    CHECK_OK(MPI_Recv(in, kSmall, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(number(&watch, kEager), 3);
  CHECK_EQ(number(&watch, kEagerBytes), 3 * kSmall);

  CHECK_OK(MPI_Isend(out, large, MPI_CHAR, 0, 3, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Recv(in, large, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Issend(out, 30, MPI_CHAR, 0, 3, MPI_COMM_SELF, &request)); /* no copy of what is synchronous */
  CHECK_OK(MPI_Recv(in, 30, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(number(&watch, kAsked), 2);
  CHECK_EQ(number(&watch, kAskedBytes), large + 30);

  CHECK_EQ(number(&watch, kDirect), 1);
  CHECK_EQ(number(&watch, kEager), 3);
  CHECK_EQ(number(&watch, kSent), 6);
  CHECK_EQ(number(&watch, kSentBytes), 70 + 3 * kSmall + large + 30);
  CHECK_EQ(number(&watch, kReceived), 6);
  CHECK_EQ(number(&watch, kReceivedBytes), 70 + 3 * kSmall + large + 30);
  watch_end(&watch);
  free(out), free(in);
}

/* ---- By communicator and peer, as the communicator numbers them. */

static void check_peers(MPI_Comm comm, int peers, int to, int from, int messages, int bytes) {
  static const char* const names[] = {"tmpi_comm_messages_sent", "tmpi_comm_bytes_sent",
                                      "tmpi_comm_messages_received", "tmpi_comm_bytes_received", NULL};
  struct watch watch;
  char out[100] = "", in[100];
  unsigned long long* const values = check_malloc(sizeof *values * (size_t)peers);
  watch_begin(&watch, comm, names);
  for (int i = 0; i < messages; i++) {
    CHECK_OK(MPI_Sendrecv(out, bytes, MPI_CHAR, to, kTag, in, bytes, MPI_CHAR, from, kTag, comm,
                          MPI_STATUS_IGNORE));
    ring(MPI_COMM_WORLD, 1, 7); /* elsewhere: does not count */
  }
  for (int which = 0; which < 4; which++) {
    CHECK_EQ(watch.counts[which], peers);
    CHECK_OK(MPI_T_pvar_read(watch.session, watch.handles[which], values));
    for (int peer = 0; peer < peers; peer++)
      CHECK_EQ(values[peer],
               peer == (which < 2 ? to : from) ? (which % 2 == 0 ? messages : messages * bytes) : 0);
  }
  free(values);
  watch_end(&watch);
}

static void communicators(void) {
  MPI_Comm reversed, half, inter;
  int rank;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed));
  CHECK_OK(MPI_Comm_rank(reversed, &rank));
  CHECK_EQ(rank, world_size - 1 - world_rank);
  check_peers(reversed, world_size, (rank + 1) % world_size, (rank + world_size - 1) % world_size, 3, 50);
  if (world_size > 1 && world_size % 2 == 0) { /* each with its partner in the other half */
    const int low = world_rank < world_size / 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, low, world_rank, &half));
    CHECK_OK(MPI_Comm_rank(half, &rank));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? world_size / 2 : 0, 5, &inter));
    check_peers(inter, world_size / 2, rank, rank, 4, 20);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
  }
  int index, count;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_Comm none = MPI_COMM_NULL;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  CHECK_OK(MPI_T_pvar_get_index("tmpi_comm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
  CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &none, &handle, &count) != MPI_SUCCESS);
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK_OK(MPI_Comm_free(&reversed));
}

/* ---- Ranks that take turns on one worker: who is ready is certain. */

static int state_number(MPI_T_enum names, const char* name) {
  char each[kText];
  int item, length;
  for (int at = 0;; at++) {
    length = kText;
    CHECK_OK(MPI_T_enum_get_item(names, at, &item, each, &length));
    if (strcmp(each, name) == 0) return item;
  }
}

static MPI_T_enum states_of_ranks(void) {
  int index;
  MPI_T_enum names;
  CHECK_OK(MPI_T_pvar_get_index("tmpi_rank_state", MPI_T_PVAR_CLASS_STATE, &index));
  CHECK_OK(
      MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL, NULL, NULL));
  return names;
}

static void check_states(struct watch* watch, int which, const char* of_others) {
  const MPI_T_enum names = states_of_ranks();
  int* const states = check_malloc(sizeof(int) * (size_t)world_size);
  CHECK_EQ(watch->counts[which], world_size);
  CHECK_OK(MPI_T_pvar_read(watch->session, watch->handles[which], states));
  for (int i = 0; i < world_size; i++)
    CHECK_EQ(states[i], state_number(names, i == 0 ? "running" : of_others));
  free(states);
}

/* All others are suspended in a receive from rank 0: those on its worker after they have run once more. */
static void let_others_block(struct watch* watch, int which, int others) {
  const MPI_T_enum names = states_of_ranks();
  int blocked = 0, *const states = check_malloc(sizeof(int) * (size_t)watch->counts[which]);
  while (blocked < others) {
    MPIX_Yield();
    CHECK_OK(MPI_T_pvar_read(watch->session, watch->handles[which], states));
    blocked = 0;
    for (int i = 0; i < watch->counts[which]; i++) blocked += states[i] == state_number(names, "blocked");
  }
  free(states);
}

static void turns(void) {
  enum { kTurns = 50 };
  static const char* const names[] = {"tmpi_rank_state", "tmpi_core_ready",    "tmpi_core_held",
                                      "tmpi_waits",      "tmpi_core_switches", NULL};
  enum { kState, kReady, kHeld, kWaits, kSwitches };
  if (world_size == 1 || number_of("tmpi_job_nodes") > 1 || number_of("tmpi_node_workers") > 1) return;
  int token = 0;
  struct watch watch;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    watch_begin(&watch, MPI_COMM_NULL, names);
    let_others_block(&watch, kState, world_size - 1);
    check_states(&watch, kState, "blocked");
    CHECK_EQ(number(&watch, kReady), 0);
    for (int to = 2; to < world_size; to++) CHECK_OK(MPI_Send(&token, 1, MPI_INT, to, kGo, MPI_COMM_WORLD));
    CHECK_EQ(number(&watch, kReady), world_size - 2);
    CHECK_EQ(seconds(&watch, kHeld, 0), 0);
    CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, kGo, MPI_COMM_WORLD));
    check_states(&watch, kState, "ready");
    CHECK_EQ(number(&watch, kReady), world_size - 1);
    const double before = MPI_Wtime();
    usleep(5000);
    const double held = seconds(&watch, kHeld, 0), passed = MPI_Wtime() - before;
    if (held < 0.0045 || held > passed)
      check_failed(__FILE__, __LINE__, "held %g of %g seconds", held, passed);
    let_others_block(&watch, kState, world_size - 1); /* in the next receive */
    CHECK_OK(MPI_T_pvar_reset(watch.session, watch.handles[kWaits]));
    CHECK_OK(MPI_T_pvar_reset(watch.session, watch.handles[kSwitches]));
    for (int i = 0; i < kTurns; i++) {
      CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD));
      CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_EQ(number(&watch, kWaits), kTurns);
    CHECK_EQ(number(&watch, kSwitches), 2 * kTurns);
    for (int to = 2; to < world_size; to++) CHECK_OK(MPI_Send(&token, 1, MPI_INT, to, kTag, MPI_COMM_WORLD));
    watch_end(&watch);
  } else {
    CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < (world_rank == 1 ? kTurns : 1); i++) {
      CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      if (world_rank == 1) CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD));
    }
  }
}

/* ---- Two ranks: while one computes the other waits, and its core is idle if it has one of its own. */

static void idle(void) {
  static const char* const names[] = {"tmpi_rank_state",
                                      "tmpi_time_running",
                                      "tmpi_time_waiting",
                                      "tmpi_time_idle",
                                      "tmpi_core_busy",
                                      "tmpi_core_idle",
                                      NULL};
  enum { kState, kRan, kWaited, kIdled, kBusy, kIdle };
  if (world_size != 2 || number_of("tmpi_job_nodes") > 1 || option("tmpi_balance")[0] != '\0') return;
  int worker, workers;
  double computed = 0;
  struct watch watch;
  CHECK_OK(MPIX_Get_worker(&worker, &workers));
  watch_begin(&watch, MPI_COMM_NULL, names);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    let_others_block(&watch, kState, 1);
    const double ran = seconds(&watch, kRan, 0), busy = seconds(&watch, kBusy, worker), begin = MPI_Wtime();
    while (computed < 0.02) computed = MPI_Wtime() - begin;
    CHECK(seconds(&watch, kRan, 0) - ran >= computed * 0.99 - 1e-5);
    CHECK(seconds(&watch, kBusy, worker) - busy >= computed * 0.99 - 1e-5);
    CHECK_OK(MPI_Send(&computed, 1, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD));
  } else {
    CHECK_OK(MPI_Recv(&computed, 1, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const double waited = seconds(&watch, kWaited, 0), idled = seconds(&watch, kIdled, 0);
    const double core = seconds(&watch, kIdle, worker);
    const double least = computed * 0.99 - 1e-5;
    if (waited < least) check_failed(__FILE__, __LINE__, "waited %g of %g seconds", waited, computed);
    if (workers == 2 ? idled < least || core < least : idled > waited - least)
      check_failed(__FILE__, __LINE__, "waited %g, idled %g, core %g; other computed %g", waited, idled, core,
                   computed);
  }
  watch_end(&watch);
}

/* A core that waits for a large message helps to copy it: sooner or later, while nobody else has the core. */
static void assists(void) {
  enum { kLarge = 4 << 20, kTries = 2000 };
  static const char* const names[] = {"tmpi_rank_state", "tmpi_core_assists", NULL};
  if (world_size != 2 || number_of("tmpi_job_nodes") > 1 || number_of("tmpi_node_workers") != 2 ||
      number_of("tmpi_node_oversubscribed") || option("tmpi_balance")[0] != '\0')
    return;
  struct watch watch;
  unsigned long long pieces[2] = {0, 0};
  char* const data = check_malloc(kLarge);
  memset(data, 1, kLarge);
  watch_begin(&watch, MPI_COMM_NULL, names);
  CHECK_EQ(watch.counts[1], 2);
  for (int i = 0, again = 1; again; i++) {
    CHECK(i < kTries);
    if (world_rank == 0) {
      let_others_block(&watch, 0, 1);
      CHECK_OK(MPI_Send(data, kLarge, MPI_CHAR, 1, kTag, MPI_COMM_WORLD));
      CHECK_OK(MPI_T_pvar_read(watch.session, watch.handles[1], pieces));
      again = pieces[0] + pieces[1] == 0;
      CHECK_OK(MPI_Send(&again, 1, MPI_INT, 1, kGo, MPI_COMM_WORLD));
    } else {
      CHECK_OK(MPI_Recv(data, kLarge, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Recv(&again, 1, MPI_INT, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
  }
  free(data);
  watch_end(&watch);
}

/* ---- Stack */

__attribute__((noinline)) static int use_stack(size_t bytes) {
  volatile char room[bytes];
  for (size_t i = 0; i < bytes; i += 1024) room[i] = (char)i;
  return room[bytes / 2];
}

static void stack(void) {
  static const char* const names[] = {"tmpi_stack_used", NULL};
  const size_t bytes = 300 << 10;
  struct watch watch;
  watch_begin(&watch, MPI_COMM_NULL, names);
  const unsigned long long before = number(&watch, 0);
  CHECK(before > 0 && before < bytes);
  use_stack(bytes);
  const unsigned long long after = number(&watch, 0);
  CHECK(after >= bytes && after <= bytes + before);
  watch_end(&watch);
}

/* ---- The network: what rank 0 sends to a rank of another node process while everybody else is silent. */

static int rank_elsewhere(void) {
  long mine = kernel_process(), *const all = check_malloc(sizeof(long) * (size_t)world_size);
  int other = 0;
  CHECK_OK(MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
  while (other < world_size && all[other] == all[0]) other++;
  free(all);
  return other;
}

static void network(void) {
  enum { kSmall = 5, kSmallBytes = 64, kLarge = 4, kLargeBytes = 300000 };
  static const char* const names[] = {
      "tmpi_network_eager",       "tmpi_network_eager_bytes", "tmpi_network_early",
      "tmpi_network_early_bytes", "tmpi_network_rendezvous",  "tmpi_network_rendezvous_bytes",
      "tmpi_network_reads",       "tmpi_network_read_bytes",  "tmpi_sent_direct",
      "tmpi_sent_eager",          "tmpi_sent_rendezvous",     NULL};
  enum {
    kEager,
    kEagerBytes,
    kEarly,
    kEarlyBytes,
    kAsked,
    kAskedBytes,
    kReads,
    kReadBytes,
    kDirect,
    kCopied,
    kWaited
  };
  struct watch watch;
  static char data[kLargeBytes];
  const int other = rank_elsewhere();
  watch_begin(&watch, MPI_COMM_NULL, names);
  if (other == world_size) { /* one node process */
    ring(MPI_COMM_WORLD, 3, 100);
    ring(MPI_COMM_WORLD, 3, 100000);
    for (int which = kEager; which <= kReadBytes; which++) CHECK_EQ(number(&watch, which), 0);
    watch_end(&watch);
    return;
  }
  const int dynamic = strncmp(option("tmpi_eager_limit"), "dynamic", 7) == 0;
  if (world_rank == 0) {
    unsigned long long before[11], sums[11];
    for (int i = 1; i < world_size; i++)
      CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, i, kSilent, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int which = 0; which < 11; which++) before[which] = number(&watch, which);
    for (int i = 0; i < kSmall; i++)
      CHECK_OK(MPI_Send(data, kSmallBytes, MPI_CHAR, other, kTag, MPI_COMM_WORLD));
    for (int i = 0; i < kLarge; i++)
      CHECK_OK(MPI_Send(data, kLargeBytes, MPI_CHAR, other, kTag, MPI_COMM_WORLD));
    for (int which = 0; which < 11; which++) sums[which] = number(&watch, which) - before[which];
    CHECK_EQ(sums[kEager] + sums[kEarly] + sums[kAsked], kSmall + kLarge);
    CHECK_EQ(sums[kEagerBytes] + sums[kEarlyBytes] + sums[kAskedBytes],
             kSmall * kSmallBytes + kLarge * kLargeBytes);
    CHECK_EQ(sums[kDirect], 0);
    CHECK_EQ(sums[kCopied], sums[kEager] + sums[kEarly]);
    CHECK_EQ(sums[kWaited], sums[kAsked]);
    CHECK(sums[kEager] >= kSmall);
    if (!dynamic) {
      CHECK_EQ(sums[kEagerBytes], kSmall * kSmallBytes);
      CHECK_EQ(sums[kEarly] + sums[kAsked], kLarge);
    }
    for (int i = 1; i < world_size; i++) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, i, kReleased, MPI_COMM_WORLD));
  } else {
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, kSilent, MPI_COMM_WORLD));
    if (world_rank == other) {
      const unsigned long long reads = number(&watch, kReads), bytes = number(&watch, kReadBytes);
      for (int i = 0; i < kSmall + kLarge; i++)
        CHECK_OK(MPI_Recv(data, kLargeBytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      if (strcmp(option("tmpi_rndv"), "read") == 0 && !dynamic) {
        CHECK_EQ(number(&watch, kReads) - reads, kLarge);
        CHECK_EQ(number(&watch, kReadBytes) - bytes, kLarge * kLargeBytes);
      }
    }
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, kReleased, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  watch_end(&watch);
}

/* The same of windows: rank 0 puts and gets. */
static void one_sided(void) {
  enum { kTimes = 6, kBytes = 64 };
  static const char* const names[] = {"tmpi_network_one_sided", "tmpi_network_one_sided_bytes", NULL};
  const int other = rank_elsewhere(), there = other < world_size ? other : 0;
  struct watch watch;
  MPI_Win win;
  char *memory, data[kBytes] = "";
  unsigned long long messages, bytes;
  CHECK_OK(MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  watch_begin(&watch, MPI_COMM_NULL, names);
  if (world_rank == 0) {
    for (int i = 1; i < world_size; i++)
      CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, i, kSilent, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    messages = number(&watch, 0), bytes = number(&watch, 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, there, 0, win));
    for (int i = 0; i < kTimes; i++)
      CHECK_OK(MPI_Put(data, kBytes, MPI_CHAR, there, 0, kBytes, MPI_CHAR, win));
    CHECK_OK(MPI_Win_flush(there, win));
    messages = number(&watch, 0) - messages, bytes = number(&watch, 1) - bytes;
    CHECK_EQ(bytes, other == there ? kTimes * kBytes : 0);
    CHECK(other == there ? messages >= kTimes && messages <= 2 * kTimes + 1 : messages == 0);
    for (int i = 0; i < kTimes; i++) {
      CHECK_OK(MPI_Get(data, kBytes, MPI_CHAR, there, 0, kBytes, MPI_CHAR, win));
      CHECK_OK(MPI_Win_flush(there, win));
    }
    CHECK_OK(MPI_Win_unlock(there, win));
    for (int i = 1; i < world_size; i++) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, i, kReleased, MPI_COMM_WORLD));
  } else {
    messages = number(&watch, 0), bytes = number(&watch, 1);
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, kSilent, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, kReleased, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    messages = number(&watch, 0) - messages, bytes = number(&watch, 1) - bytes;
    if (world_rank == other) { /* answers, and what was got */
      CHECK_EQ(bytes, kTimes * kBytes);
      CHECK(messages > kTimes);
    }
  }
  CHECK_OK(MPI_Win_free(&win));
  watch_end(&watch);
}

int main(int argc, char** argv) {
  int provided;
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  check_begin(&argc, &argv);
  ways();
  communicators();
  turns();
  idle();
  assists();
  stack();
  network();
  one_sided();
  CHECK_OK(MPI_T_finalize());
  return check_end();
}
