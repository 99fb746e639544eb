/* Random traffic: every rank sends messages of random size, mode and tag to random ranks. All ranks draw the
 * same plan from one generator, so each knows what it has to receive; contents are checked byte by byte.
 * Receives are posted early or late, exact or with wildcards, by requests or matched probes.
 *
 *   p2p_random [rounds [seed]]
 */
#include "check.h"

enum { kMost = 70000, kMaxMessages = 4096, kApart = 32 /* rounds that a rank may be ahead */ };

struct message {
  int from, to, bytes, tag, mode, style;
};

static struct message plan[kMaxMessages];
static unsigned char* buffers[kMaxMessages];
static MPI_Request requests[2 * kMaxMessages];

static int random_bytes(uint64_t* state) {
  switch (random_next(state) % 8) {
    case 0:
      return 0;
    case 1:
    case 2:
    case 3:
      return (int)(random_next(state) % 64);
    case 4:
    case 5:
      return (int)(random_next(state) % 2000);
    case 6:
      return (int)(random_next(state) % 10000);
    default:
      return (int)(random_next(state) % kMost);
  }
}

static int draw_plan(int round, uint64_t* state) {
  int count = 4 * world_size < kMaxMessages ? 4 * world_size : kMaxMessages;
  for (int i = 0; i < count; i++) {
    plan[i].from = (int)(random_next(state) % (uint32_t)world_size);
    plan[i].to = random_next(state) % 4 == 0 ? 0 : (int)(random_next(state) % (uint32_t)world_size);
    plan[i].bytes = random_bytes(state);
    plan[i].tag =
        round % kApart * kMaxMessages + i; /* unique, so that a wildcard still knows which message it got */
    plan[i].mode = (int)(random_next(state) % 3);
    plan[i].style = (int)(random_next(state) % 4);
  }
  return count;
}

static uint32_t seed_of(int round, int index) {
  return (uint32_t)(round * 7919 + index);
}

static void post_send(const struct message* m, int index, int round, int* pending) {
  buffers[index] = check_malloc(kMost);
  pattern_fill(buffers[index], (size_t)m->bytes, seed_of(round, index));
  MPI_Request* request = &requests[(*pending)++];
  if (m->mode == 0) {
    CHECK_OK(MPI_Isend(buffers[index], m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request));
  } else if (m->mode == 1) {
    CHECK_OK(MPI_Issend(buffers[index], m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request));
  } else {
    CHECK_OK(MPI_Send_init(buffers[index], m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request));
    CHECK_OK(MPI_Start(request));
  }
}

/* Styles 0 and 1 are posted at once, 2 is received after everything was sent, 3 by a matched probe. */
static void receive_now(const struct message* m, int index, int round) {
  unsigned char* in = check_malloc((size_t)m->bytes);
  MPI_Status status;
  int count = -1;
  if (m->style == 2) {
    CHECK_OK(MPI_Recv(in, m->bytes, MPI_BYTE, m->from, m->tag, MPI_COMM_WORLD, &status));
  } else {
    MPI_Message message;
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, m->tag, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Mrecv(in, m->bytes, MPI_BYTE, &message, &status));
  }
  CHECK_EQ(status.MPI_SOURCE, m->from);
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, m->bytes);
  CHECK_PATTERN(in, (size_t)m->bytes, seed_of(round, index));
  free(in);
}

static void run_round(int round, uint64_t* state) {
  int count = draw_plan(round, state), pending = 0;
  static unsigned char* received[kMaxMessages];
  for (int i = 0; i < count; i++) {
    if (plan[i].to != world_rank || plan[i].style > 1) continue;
    received[i] = check_malloc((size_t)plan[i].bytes);
    CHECK_OK(MPI_Irecv(received[i], plan[i].bytes, MPI_BYTE, plan[i].style ? MPI_ANY_SOURCE : plan[i].from,
                       plan[i].tag, MPI_COMM_WORLD, &requests[pending++]));
  }
  for (int i = 0; i < count; i++)
    if (plan[i].from == world_rank) post_send(&plan[i], i, round, &pending);
  for (int i = count - 1; i >= 0; i--)
    if (plan[i].to == world_rank && plan[i].style > 1) receive_now(&plan[i], i, round);
  CHECK_OK(MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE));
  for (int k = 0; k < pending; k++)
    if (requests[k] != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(&requests[k])); /* the persistent ones */
  for (int i = 0; i < count; i++) {
    if (plan[i].to == world_rank && plan[i].style <= 1) {
      CHECK_PATTERN(received[i], (size_t)plan[i].bytes, seed_of(round, i));
      free(received[i]);
    }
    if (plan[i].from == world_rank) free(buffers[i]);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 60;
  uint64_t state = argc > 2 ? (uint64_t)atoll(argv[2]) : 4711;
  if (world_size > 100) rounds = rounds / 10 + 1;
  for (int round = 0; round < rounds; round++) {
    if (round % kApart == 0) MPI_Barrier(MPI_COMM_WORLD);
    run_round(round, &state);
  }
  return check_end();
}
