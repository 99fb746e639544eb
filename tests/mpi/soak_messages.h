/* The soak test's messages: what every step shares, layouts of memory, ways to complete requests, and the
 * steps of point-to-point communication. Included by soak.c only. */
#ifndef TESTS_MPI_SOAK_MESSAGES_H
#define TESTS_MPI_SOAK_MESSAGES_H

#include "check.h"

enum {
  kSlots = 5,
  kWindow = 512, /* steps until tags come again; twice as many as a rank may be ahead */
  kTags = 16,
  kMessages = 6,
  kOutstanding = 8,
  kElements = 4096, /* of a vector of all ranks' elements, if that many ranks share it */
  kBuffered = 500   /* integers of a buffered message */
};

/* Every rank is in one communicator of each slot; slot 0 is the world. */
struct slot {
  MPI_Comm comm;
  int rank, size;
};
static struct slot slots[kSlots];
static uint64_t plan, own; /* the generators: the same numbers on all ranks; a rank's own */
static int step;
static long long messages, collectives, communicators; /* what this rank took part in */

static uint32_t planned(uint32_t below) {
  return random_next(&plan) % below;
}
static uint32_t chosen(uint32_t below) {
  return random_next(&own) % below;
}

static uint32_t mix(uint32_t a, uint32_t b) {
  uint32_t x = a * 2654435761u + b * 2246822519u + 374761393u;
  x = (x ^ x >> 15) * 2246822519u;
  return x ^ x >> 13;
}

static int tag_of(int message) {
  return step % kWindow * kTags + message;
}

/* ---- Layouts: the same integers, laid out in memory in different ways ---- */

enum { kPlain, kStrided, kReversed, kResized, kGap, kLayouts };

struct layout {
  int kind, elements, count; /* `count` of `type` are the elements */
  MPI_Datatype type;
};

static int position(int kind, int elements, int i) {
  switch (kind) {
    case kStrided:
      return 2 * i;
    case kReversed:
      return elements - 1 - i;
    case kResized:
      return 3 * i;
    case kGap:
      return i < elements / 2 ? i : i + 5;
    default:
      return i;
  }
}

static struct layout layout_create(int kind, int elements) {
  struct layout layout = {kind, elements, 1, MPI_INT};
  int* places = check_malloc((size_t)elements * sizeof(int));
  for (int i = 0; i < elements; i++) places[i] = position(kind, elements, i);
  if (kind == kStrided) {
    CHECK_OK(MPI_Type_vector(elements, 1, 2, MPI_INT, &layout.type));
  } else if (kind == kReversed) {
    CHECK_OK(MPI_Type_create_indexed_block(elements, 1, places, MPI_INT, &layout.type));
  } else if (kind == kResized) {
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &layout.type));
    layout.count = elements;
  } else if (kind == kGap) {
    int lengths[2] = {elements / 2, elements - elements / 2};
    MPI_Aint offsets[2] = {0, (elements / 2 + 5) * (MPI_Aint)sizeof(int)};
    CHECK_OK(MPI_Type_create_struct(2, lengths, offsets, (MPI_Datatype[]){MPI_INT, MPI_INT}, &layout.type));
  } else {
    layout.count = elements;
  }
  free(places);
  if (kind != kPlain) CHECK_OK(MPI_Type_commit(&layout.type));
  return layout;
}

/* May be done while operations with the type are pending. */
static void layout_free(struct layout* layout) {
  if (layout->kind != kPlain) CHECK_OK(MPI_Type_free(&layout->type));
}

static int* buffer_create(int elements) {
  size_t bytes = (size_t)(3 * elements + 5) * sizeof(int);
  int* buffer = check_malloc(bytes);
  memset(buffer, 0xa5, bytes);
  return buffer;
}

static void fill(int* buffer, int kind, int elements, uint32_t seed) {
  for (int i = 0; i < elements; i++) buffer[position(kind, elements, i)] = (int)mix(seed, (uint32_t)i);
}

static void check_filled(const int* buffer, int kind, int elements, uint32_t seed) {
  for (int i = 0; i < elements; i++)
    CHECK_EQ(buffer[position(kind, elements, i)], (int)mix(seed, (uint32_t)i));
}

/* ---- Completion: every function that waits or tests ---- */

static void complete_by_tests(int style, int count, MPI_Request* requests) {
  int flag = 0, index = 0, done = 0, indices[kTags];
  switch (style) {
    case 0:
      while (!flag) CHECK_OK(MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE));
      break;
    case 1:
      while (!flag || index != MPI_UNDEFINED)
        CHECK_OK(MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE));
      break;
    case 2:
      while (done != MPI_UNDEFINED)
        CHECK_OK(MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE));
      break;
    default:
      for (int i = 0; i < count; i++) {
        for (flag = 0; !flag;) CHECK_OK(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        CHECK(flag);
      }
  }
}

static void complete(int count, MPI_Request* requests) {
  int style = (int)chosen(8), index = 0, done = 0, indices[kTags];
  switch (style) {
    case 0:
      CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
      break;
    case 1:
      while (index != MPI_UNDEFINED) CHECK_OK(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
      break;
    case 2:
      while (done != MPI_UNDEFINED)
        CHECK_OK(MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE));
      break;
    case 3:
      for (int i = count - 1; i >= 0; i--) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
      break;
    default:
      complete_by_tests(style - 4, count, requests);
  }
}

/* ---- Messages: each rank sends the rank `shift` to its right, and knows what comes from its left ---- */

struct message {
  int tag, elements, peer;
  uint32_t seed; /* of the contents */
  int* buffer;
  int kind; /* layout */
};

static int draw_elements(uint32_t x) {
  static const int most[8] = {1, 16, 16, 64, kBuffered, kBuffered, 3000, 20000};
  return (int)(x / 8 % (uint32_t)most[x % 8]);
}

/* The message number `index` of this step that rank `source` sends; `peer` is the other side's rank. */
static struct message describe(int index, int source, int peer, uint32_t salt) {
  struct message m = {tag_of(index), 0,     peer, mix(salt, mix((uint32_t)index, (uint32_t)source)),
                      NULL,          kPlain};
  m.elements = draw_elements(mix(m.seed, 77));
  m.kind = (int)chosen(kLayouts);
  m.buffer = buffer_create(m.elements);
  messages++;
  return m;
}

/* Starts the send; `buffered`: there is an attached buffer. Whether the request is a persistent one. */
static int post_send(const struct message* m, MPI_Comm comm, int buffered, MPI_Request* request) {
  int mode = (int)chosen(buffered && m->elements < kBuffered ? 6 : 4);
  struct layout l = layout_create(m->kind, m->elements);
  fill(m->buffer, m->kind, m->elements, m->seed);
  switch (mode) {
    case 0:
      CHECK_OK(MPI_Issend(m->buffer, l.count, l.type, m->peer, m->tag, comm, request));
      break;
    case 1:
      CHECK_OK(MPI_Send_init(m->buffer, l.count, l.type, m->peer, m->tag, comm, request));
      CHECK_OK(MPI_Start(request));
      break;
    case 4:
      CHECK_OK(MPI_Ibsend(m->buffer, l.count, l.type, m->peer, m->tag, comm, request));
      break;
    case 5:
      CHECK_OK(MPI_Bsend(m->buffer, l.count, l.type, m->peer, m->tag, comm));
      *request = MPI_REQUEST_NULL;
      break;
    default:
      CHECK_OK(MPI_Isend(m->buffer, l.count, l.type, m->peer, m->tag, comm, request));
  }
  layout_free(&l);
  return mode == 1; /* persistent */
}

static int post_receive(const struct message* m, MPI_Comm comm, MPI_Request* request) {
  int style = (int)chosen(3), source = style == 1 ? MPI_ANY_SOURCE : m->peer;
  struct layout l = layout_create(m->kind, m->elements);
  if (style == 2) {
    CHECK_OK(MPI_Recv_init(m->buffer, l.count, l.type, source, m->tag, comm, request));
    CHECK_OK(MPI_Start(request));
  } else {
    CHECK_OK(MPI_Irecv(m->buffer, l.count, l.type, source, m->tag, comm, request));
  }
  layout_free(&l);
  return style == 2;
}

static void receive_now(const struct message* m, MPI_Comm comm) {
  MPI_Status status;
  MPI_Message matched;
  MPI_Request request;
  int style = (int)chosen(5), flag = 0, count = -1;
  struct layout l = layout_create(m->kind, m->elements);
  if (style == 0) {
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, m->tag, comm, &matched, &status));
    CHECK_OK(MPI_Mrecv(m->buffer, l.count, l.type, &matched, &status));
  } else if (style == 1) {
    while (!flag) CHECK_OK(MPI_Improbe(m->peer, m->tag, comm, &flag, &matched, &status));
    CHECK_OK(MPI_Imrecv(m->buffer, l.count, l.type, &matched, &request));
    CHECK_OK(MPI_Wait(&request, &status));
  } else {
    if (style == 2) CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, m->tag, comm, &status));
    while (style == 3 && !flag) CHECK_OK(MPI_Iprobe(m->peer, m->tag, comm, &flag, &status));
    CHECK_OK(MPI_Recv(m->buffer, l.count, l.type, m->peer, m->tag, comm, &status));
  }
  CHECK_EQ(status.MPI_SOURCE, m->peer);
  CHECK_EQ(status.MPI_TAG, m->tag);
  CHECK_OK(MPI_Get_elements(&status, l.type, &count));
  CHECK_EQ(count, m->elements);
  layout_free(&l);
}

static void exchange_now(const struct message* out, const struct message* in, MPI_Comm comm) {
  MPI_Status status;
  struct layout from = layout_create(out->kind, out->elements), to = layout_create(in->kind, in->elements);
  fill(out->buffer, out->kind, out->elements, out->seed);
  CHECK_OK(MPI_Sendrecv(out->buffer, from.count, from.type, out->peer, out->tag, in->buffer, to.count,
                        to.type, in->peer, in->tag, comm, &status));
  CHECK_EQ(status.MPI_SOURCE, in->peer);
  layout_free(&from), layout_free(&to);
}

static void step_messages(const struct slot* s) {
  int count = 1 + (int)planned(kMessages), pending = 0, bytes = 0;
  int blocking = planned(4) == 0 ? (int)planned((uint32_t)count) : -1; /* sent by MPI_Sendrecv */
  uint32_t salt = random_next(&plan), late = chosen(1 << kMessages);
  struct message out[kMessages], in[kMessages];
  MPI_Request requests[kTags];
  int persistent[kTags] = {0};
  void* buffer = check_malloc(kMessages * (kBuffered * sizeof(int) + MPI_BSEND_OVERHEAD));
  CHECK_OK(MPI_Buffer_attach(buffer, kMessages * (int)(kBuffered * sizeof(int) + MPI_BSEND_OVERHEAD)));
  for (int i = 0; i < count; i++) {
    int shift = planned(4) == 0 ? (int)planned(3) % s->size : (int)(random_next(&plan) % (uint32_t)s->size);
    int left = (s->rank - shift + s->size) % s->size;
    out[i] = describe(i, s->rank, (s->rank + shift) % s->size, salt);
    in[i] = describe(i, left, left, salt);
    if (i == blocking || late >> i & 1) continue;
    persistent[pending] = post_receive(&in[i], s->comm, &requests[pending]), pending++;
  }
  for (int i = 0; i < count; i++) {
    if (i == blocking) continue;
    persistent[pending] = post_send(&out[i], s->comm, 1, &requests[pending]), pending++;
  }
  if (blocking >= 0) exchange_now(&out[blocking], &in[blocking], s->comm);
  for (int i = count - 1; i >= 0; i--)
    if (i != blocking && late >> i & 1) receive_now(&in[i], s->comm);
  complete(pending, requests);
  CHECK_OK(MPI_Buffer_detach(&buffer, &bytes));
  free(buffer);
  for (int i = 0; i < pending; i++)
    if (persistent[i]) CHECK_OK(MPI_Request_free(&requests[i]));
  for (int i = 0; i < count; i++) {
    check_filled(in[i].buffer, in[i].kind, in[i].elements, in[i].seed);
    free(out[i].buffer), free(in[i].buffer);
  }
}

/* Any source and any tag: a barrier on both sides keeps messages of other steps away. */
static void step_wildcards(const struct slot* s) {
  int count = 1 + (int)planned(kMessages), lefts[kMessages], seen = 0;
  uint32_t salt = random_next(&plan);
  struct message out[kMessages];
  MPI_Request requests[kMessages];
  CHECK_OK(MPI_Barrier(s->comm));
  for (int i = 0; i < count; i++) {
    int shift = (int)(random_next(&plan) % (uint32_t)s->size);
    lefts[i] = (s->rank - shift + s->size) % s->size;
    out[i] = describe(i, s->rank, (s->rank + shift) % s->size, salt);
    struct layout l = layout_create(out[i].kind, out[i].elements);
    fill(out[i].buffer, out[i].kind, out[i].elements, out[i].seed);
    CHECK_OK(MPI_Send_init(out[i].buffer, l.count, l.type, out[i].peer, out[i].tag, s->comm, &requests[i]));
    layout_free(&l);
  }
  CHECK_OK(MPI_Startall(count, requests));
  for (int i = 0; i < count; i++) {
    MPI_Status status;
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &status));
    int index = status.MPI_TAG - tag_of(0);
    CHECK(index >= 0 && index < count && !(seen >> index & 1));
    seen |= 1 << index;
    CHECK_EQ(status.MPI_SOURCE, lefts[index]);
    struct message in = describe(index, lefts[index], lefts[index], salt);
    receive_now(&in, s->comm);
    check_filled(in.buffer, in.kind, in.elements, in.seed);
    free(in.buffer);
  }
  complete(count, requests);
  CHECK_OK(MPI_Barrier(s->comm));
  for (int i = 0; i < count; i++) {
    CHECK_OK(MPI_Request_free(&requests[i]));
    free(out[i].buffer);
  }
}

/* A receive is cancelled while its message is on the way: either the one happens or the other. */
static void step_cancel(const struct slot* s) {
  int shift = (int)(random_next(&plan) % (uint32_t)s->size), left = (s->rank - shift + s->size) % s->size;
  uint32_t salt = random_next(&plan);
  struct message out = describe(0, s->rank, (s->rank + shift) % s->size, salt),
                 in = describe(0, left, left, salt);
  int sent_first = (int)chosen(2), persistent = 0, cancelled;
  MPI_Request send = MPI_REQUEST_NULL, receive, never;
  MPI_Status status;
  in.kind = kPlain;
  if (sent_first) persistent = post_send(&out, s->comm, 0, &send);
  CHECK_OK(MPI_Irecv(in.buffer, in.elements, MPI_INT, left, in.tag, s->comm, &receive));
  CHECK_OK(MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, tag_of(1), s->comm, &never));
  CHECK_OK(MPI_Cancel(&receive));
  CHECK_OK(MPI_Cancel(&never));
  if (!sent_first) persistent = post_send(&out, s->comm, 0, &send);
  CHECK_OK(MPI_Wait(&never, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK(cancelled);
  CHECK_OK(MPI_Wait(&receive, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  if (cancelled) receive_now(&in, s->comm);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  if (persistent) CHECK_OK(MPI_Request_free(&send));
  check_filled(in.buffer, in.kind, in.elements, in.seed);
  free(out.buffer), free(in.buffer);
}

/* Different partitions on the two sides, made ready in any order. */
static void step_partitioned(const struct slot* s) {
  int shift = (int)planned((uint32_t)s->size), left = (s->rank - shift + s->size) % s->size;
  int parts_out = 1 + (int)planned(12), parts_in = 1 + (int)planned(12), rounds = 1 + (int)planned(3);
  int unit = 1 + (int)planned(20), all = parts_out * parts_in * unit, flag;
  uint32_t salt = random_next(&plan);
  int *out = check_malloc((size_t)all * sizeof(int)), *in = check_malloc((size_t)all * sizeof(int));
  MPI_Request requests[2];
  CHECK_OK(MPI_Psend_init(out, parts_out, parts_in * unit, MPI_INT, (s->rank + shift) % s->size, tag_of(0),
                          s->comm, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(in, parts_in, parts_out * unit, MPI_INT, left, tag_of(0), s->comm, MPI_INFO_NULL,
                          &requests[1]));
  for (int round = 0; round < rounds; round++, messages += 2) {
    uint32_t seed = mix(salt, (uint32_t)round);
    int start = (int)chosen((uint32_t)parts_out), way = (int)chosen(2);
    fill(out, kPlain, all, mix(seed, (uint32_t)s->rank));
    memset(in, 0xa5, (size_t)all * sizeof(int));
    CHECK_OK(MPI_Startall(2, requests));
    if (way == 0 && start > 0) CHECK_OK(MPI_Pready_range(0, start - 1, requests[0]));
    for (int i = parts_out - 1; i >= (way == 0 ? start : 0); i--)
      CHECK_OK(MPI_Pready(way == 0 ? i : (start + i) % parts_out, requests[0]));
    for (flag = 0; way == 1 && !flag;) CHECK_OK(MPI_Parrived(requests[1], parts_in / 2, &flag));
    complete(2, requests);
    check_filled(in, kPlain, all, mix(seed, (uint32_t)left));
  }
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
  free(out), free(in);
}

#endif
