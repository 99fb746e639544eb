/* Intercommunicators: made of two groups in several ways, asked, messages between their sides, duplicated,
 * split, merged, freed with messages pending. MPI report, 7.6. */
#include "check.h"

static int left, count, others, mine; /* my side, its size, the other's size, my rank in it */
static MPI_Comm half, inter;

/* The world rank of the other side's rank r, and of mine: even and odd world ranks. */
static int other_world(int r) {
  return 2 * r + (left ? 1 : 0);
}

static void check_groups(MPI_Comm comm, int size, int remote) {
  int flag = 0, n = -1;
  MPI_Group group, world;
  CHECK_OK(MPI_Comm_test_inter(comm, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Comm_size(comm, &n));
  CHECK_EQ(n, size);
  CHECK_OK(MPI_Comm_remote_size(comm, &n));
  CHECK_EQ(n, remote);
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Comm_remote_group(comm, &group));
  CHECK_OK(MPI_Group_size(group, &n));
  CHECK_EQ(n, remote);
  CHECK_OK(MPI_Group_rank(group, &n));
  CHECK_EQ(n, MPI_UNDEFINED);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_group(comm, &group));
  CHECK_OK(MPI_Group_size(group, &n));
  CHECK_EQ(n, size);
  CHECK_OK(MPI_Group_rank(group, &n));
  CHECK(n >= 0 && n < size);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

static void make(void) {
  left = world_rank % 2 == 0;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, left, world_rank, &half));
  CHECK_OK(MPI_Comm_rank(half, &mine));
  CHECK_OK(MPI_Comm_size(half, &count));
  others = world_size - count;
  /* The leaders are the last of the even and the first of the odd ranks. */
  int leader = left ? count - 1 : 0, remote = left ? 1 : world_size - 1 - (world_size - 1) % 2;
  CHECK_OK(MPI_Intercomm_create(half, leader, MPI_COMM_WORLD, remote, 17, &inter));
  check_groups(inter, count, others);
  int rank;
  CHECK_OK(MPI_Comm_rank(inter, &rank));
  CHECK_EQ(rank, mine);
  MPI_Group world, group;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Comm_remote_group(inter, &group));
  for (int r = 0; r < others; r++) {
    int got;
    CHECK_OK(MPI_Group_translate_ranks(group, 1, &r, world, &got));
    CHECK_EQ(got, other_world(r));
  }
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

/* Everybody sends to every rank of the other side, in every mode, and receives with and without wildcards. */
static void test_messages(MPI_Comm comm, int me, int remote, int base) {
  int* out = check_malloc(sizeof *out * (size_t)remote);
  MPI_Request* sends = check_malloc(sizeof *sends * (size_t)remote);
  for (int mode = 0; mode < 3; mode++) {
    for (int r = 0; r < remote; r++) {
      out[r] = base + 1000 * me + r;
      if (mode == 1)
        CHECK_OK(MPI_Issend(&out[r], 1, MPI_INT, r, mode, comm, &sends[r]));
      else
        CHECK_OK(MPI_Isend(&out[r], 1, MPI_INT, r, mode, comm, &sends[r]));
    }
    for (int i = 0; i < remote; i++) {
      MPI_Status status;
      int got = -1, n = -1;
      if (mode == 2) CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, mode, comm, &status));
      int from = mode == 0 ? i : mode == 1 ? MPI_ANY_SOURCE : status.MPI_SOURCE;
      CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, mode, comm, &status));
      CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < remote);
      if (from != MPI_ANY_SOURCE) CHECK_EQ(status.MPI_SOURCE, from);
      CHECK_EQ(status.MPI_TAG, mode);
      CHECK_EQ(got, base + 1000 * status.MPI_SOURCE + me);
      CHECK_OK(MPI_Get_count(&status, MPI_INT, &n));
      CHECK_EQ(n, 1);
    }
    CHECK_OK(MPI_Waitall(remote, sends, MPI_STATUSES_IGNORE));
  }
  free(sends);
  free(out);
}

/* Large and synchronous messages, a send that is cancelled, MPI_PROC_NULL, matched probes. */
static void test_modes(void) {
  int partner = mine < others ? mine : MPI_PROC_NULL, flag = 0;
  size_t bytes = 300000;
  char *out = check_malloc(bytes), *in = check_malloc(bytes);
  MPI_Status status;
  MPI_Request request;
  pattern_fill(out, bytes, (uint32_t)world_rank);
  CHECK_OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, partner, 3, in, (int)bytes, MPI_BYTE, partner, 3, inter,
                        &status));
  CHECK_EQ(status.MPI_SOURCE, partner);
  if (partner != MPI_PROC_NULL) CHECK_PATTERN(in, bytes, (uint32_t)other_world(mine));
  if (partner != MPI_PROC_NULL) {
    if (left) {
      CHECK_OK(MPI_Ssend(out, (int)bytes, MPI_BYTE, partner, 4, inter));
    } else {
      MPI_Message message;
      CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 4, inter, &message, &status));
      CHECK_EQ(status.MPI_SOURCE, partner);
      CHECK_OK(MPI_Mrecv(in, (int)bytes, MPI_BYTE, &message, &status));
      CHECK_PATTERN(in, bytes, (uint32_t)other_world(mine));
    }
    CHECK_OK(MPI_Irecv(in, 1, MPI_BYTE, MPI_ANY_SOURCE, 5, inter, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (left && partner != MPI_PROC_NULL) {
    CHECK_OK(MPI_Issend(out, 10, MPI_BYTE, partner, 6, inter, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
#ifdef MPI_ABI_VERSION
    CHECK(flag); /* nobody receives it */
#endif
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  free(in);
  free(out);
}

static void compare(MPI_Comm a, MPI_Comm b, int want) {
  int result = -1;
  CHECK_OK(MPI_Comm_compare(a, b, &result));
  CHECK_EQ(result, want);
}

static void test_dup(void) {
  MPI_Comm dup, again;
  CHECK_OK(MPI_Comm_dup(inter, &dup));
  compare(inter, inter, MPI_IDENT);
  compare(inter, dup, MPI_CONGRUENT);
  compare(inter, half, MPI_UNEQUAL);
  check_groups(dup, count, others);
  test_messages(dup, mine, others, 5);
  MPI_Request request;
  CHECK_OK(MPI_Comm_idup(dup, &again, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  test_messages(again, mine, others, 6);
  CHECK_OK(MPI_Comm_disconnect(&dup));
  CHECK(dup == MPI_COMM_NULL);
  CHECK_OK(MPI_Comm_free(&again));
}

/* high decides the order of the groups. */
static void test_merge(int high_left, int high_right) {
  MPI_Comm all;
  int rank, size, sum = -1, flag = -1;
  CHECK_OK(MPI_Intercomm_merge(inter, left ? high_left : high_right, &all));
  CHECK_OK(MPI_Comm_rank(all, &rank));
  CHECK_OK(MPI_Comm_size(all, &size));
  CHECK_OK(MPI_Comm_test_inter(all, &flag));
  CHECK(!flag);
  CHECK_EQ(size, world_size);
  if (high_left != high_right) CHECK_EQ(rank, left == high_left ? mine + others : mine);
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
  CHECK_EQ(sum, size * (size - 1) / 2);
  CHECK_OK(MPI_Comm_free(&all));
}

/* By thirds of each side; the left side has a colour more. Keys turn the order round. */
static void test_split(void) {
  MPI_Comm part;
  int color = left && mine == count - 1 ? 3 : mine % 3, alone = color == 3;
  int members = 0, remote = 0, rank = 0;
  for (int r = 0; r < world_size; r++) {
    int r_left = r % 2 == 0, r_mine = r / 2, r_count = r_left ? (world_size + 1) / 2 : world_size / 2;
    int r_color = r_left && r_mine == r_count - 1 ? 3 : r_mine % 3;
    if (r_color != color) continue;
    if (r_left == left)
      rank += r_mine > mine, members++;
    else
      remote++;
  }
  CHECK_OK(MPI_Comm_split(inter, color, -mine, &part));
  CHECK_EQ(part == MPI_COMM_NULL, alone || remote == 0);
  if (part != MPI_COMM_NULL) {
    int got;
    check_groups(part, members, remote);
    CHECK_OK(MPI_Comm_rank(part, &got));
    CHECK_EQ(got, rank);
    test_messages(part, rank, remote, 7);
    CHECK_OK(MPI_Comm_free(&part));
  }
  CHECK_OK(MPI_Comm_split(inter, MPI_UNDEFINED, 0, &part));
  CHECK(part == MPI_COMM_NULL);
}

/* The first two of the left and the last of the right side; then nobody of the right side. */
static void test_create(void) {
  MPI_Group group, some;
  MPI_Comm part;
  int range[1][3] = {{0, count > 1 ? 1 : 0, 1}}, last = count - 1;
  int members = left ? range[0][1] + 1 : 1, left_count = (world_size + 1) / 2;
  int remote = left ? 1 : left_count > 1 ? 2 : 1, inside = left ? mine < members : mine == last;
  CHECK_OK(MPI_Comm_group(inter, &group));
  if (left)
    CHECK_OK(MPI_Group_range_incl(group, 1, range, &some));
  else
    CHECK_OK(MPI_Group_incl(group, 1, &last, &some));
  CHECK_OK(MPI_Comm_create(inter, some, &part));
  CHECK_EQ(part != MPI_COMM_NULL, inside);
  if (inside) {
    int rank;
    check_groups(part, members, remote);
    CHECK_OK(MPI_Comm_rank(part, &rank));
    test_messages(part, rank, remote, 8);
    CHECK_OK(MPI_Comm_free(&part));
  }
  CHECK_OK(MPI_Comm_create(inter, left ? some : MPI_GROUP_EMPTY, &part));
  CHECK(part == MPI_COMM_NULL);
  CHECK_OK(MPI_Group_free(&some));
  CHECK_OK(MPI_Group_free(&group));
}

/* A peer communicator that is an intercommunicator itself; several at a time with one tag; freed with
 * messages pending. */
static void test_more(void) {
  MPI_Comm again, pair, self;
  CHECK_OK(MPI_Intercomm_create(half, 0, inter, 0, 99, &again));
  compare(again, inter, MPI_CONGRUENT);
  int out = world_rank, in = -1;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (mine < others) {
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, mine, 0, again, &requests[0]));
    CHECK_OK(MPI_Issend(&out, 1, MPI_INT, mine, 0, again, &requests[1]));
  }
  CHECK_OK(MPI_Comm_free(&again));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  if (mine < others) CHECK_EQ(in, other_world(mine));
  if (mine >= others) return;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
  CHECK_OK(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, other_world(mine), 5, &pair));
  check_groups(pair, 1, 1);
  test_messages(pair, 0, 1, 9);
  CHECK_OK(MPI_Comm_free(&pair));
  CHECK_OK(MPI_Comm_free(&self));
}

static void test_errors(void) {
  MPI_Comm got;
  MPI_Group group;
  int n;
  CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 0, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_test_inter(MPI_COMM_NULL, &n), MPI_ERR_COMM);
  CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Send(&n, 1, MPI_INT, others, 0, inter), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Recv(&n, 1, MPI_INT, others, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 0, &got), MPI_ERR_RANK);
  /* A leader's mistake reaches its whole group. */
  CHECK_OK(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_size, 0, &got), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 0, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left, -4, &got), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !left, 0, &got), MPI_ERR_RANK); /* myself */
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  make();
  test_messages(inter, mine, others, 0);
  test_modes();
  test_dup();
  test_merge(0, 1);
  test_merge(1, 0);
  test_merge(1, 1);
  test_split();
  test_create();
  test_more();
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  test_errors();
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Comm_free(&half));
  return check_end();
}
