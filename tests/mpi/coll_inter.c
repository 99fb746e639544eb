/* Collectives on intercommunicators: each group gets what the other one gives. Groups of different sizes,
 * every root in either group, the plain, v- and w-forms, blocking and nonblocking, operators that do not
 * commute. */
#include "check.h"

static MPI_Comm inter;
static int rank, size, others; /* mine, my group's size, the other group's */
static int group, other;       /* numbers of the groups: 0 and 1 */

/* Element i of what rank r of a group contributes. */
static int value(int from_group, int r, int i) {
  return from_group * 5003 + r * 101 + i * 3;
}
/* What rank r of a group sends to rank `to` of the other one. */
static int message(int from_group, int r, int to, int i) {
  return value(from_group, r, i) + to * 17;
}
/* Elements of what rank r has in the v-forms. */
static int ragged(int from_group, int r, int count) {
  return (r + from_group) % 3 * count;
}

static int* ints(long n) {
  int* data = check_malloc((size_t)n * sizeof(int));
  for (long i = 0; i < n; i++) data[i] = -1;
  return data;
}
static int* contribution(int count) {
  int* data = ints(count);
  for (int i = 0; i < count; i++) data[i] = value(group, rank, i);
  return data;
}

/* Waits for a call that returns a request, or takes the blocking one. */
static int nonblocking;
#define RUN(name, ...)                                     \
  do {                                                     \
    if (nonblocking) {                                     \
      MPI_Request request;                                 \
      CHECK_OK(MPI_I##name(__VA_ARGS__, inter, &request)); \
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));     \
    } else {                                               \
      CHECK_OK(MPI_##name(__VA_ARGS__, inter));            \
    }                                                      \
  } while (0)
/* The names of nonblocking calls have a small letter behind the I. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block

static void test_barrier(void) {
  if (nonblocking) {
    MPI_Request request;
    CHECK_OK(MPI_Ibarrier(inter, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    CHECK_OK(MPI_Barrier(inter));
  }
}

/* root_group: the one that has the root; `root`: its rank there. */
static void test_rooted(int root_group, int root, int count) {
  const int here = group == root_group, at_root = here && rank == root;
  const int given = !here ? root : at_root ? MPI_ROOT : MPI_PROC_NULL;
  int *data = contribution(count), *all = ints((long)others * count * 2);
  int *counts = ints(others), *displs = ints(others), total = 0;
  for (int r = 0; r < others; r++) {
    counts[r] = ragged(other, r, count);
    displs[r] = total;
    total += counts[r] + 1;
  }
  int *ragged_all = ints(total), mine = ragged(group, rank, count);

  RUN(Bcast, data, count, MPI_INT, given);
  for (int i = 0; i < count; i++) CHECK_EQ(data[i], here ? value(group, rank, i) : value(other, root, i));
  free(data);

  data = contribution(count);
  RUN(Gather, data, count, MPI_INT, all, count, MPI_INT, given);
  for (int i = 0; i < others * count; i++)
    CHECK_EQ(all[i], at_root ? value(other, i / count, i % count) : -1);
  free(data);

  data = contribution(mine);
  RUN(Gatherv, data, mine, MPI_INT, ragged_all, counts, displs, MPI_INT, given);
  for (int r = 0; r < others; r++)
    for (int i = 0; i < counts[r]; i++)
      CHECK_EQ(ragged_all[displs[r] + i], at_root ? value(other, r, i) : -1);

  for (int i = 0; i < others * count; i++) all[i] = message(group, rank, i / count, i % count);
  int* part = ints(count);
  RUN(Scatter, all, count, MPI_INT, part, count, MPI_INT, given);
  for (int i = 0; i < count; i++) CHECK_EQ(part[i], here ? -1 : message(other, root, rank, i));
  free(part);

  for (int r = 0; r < others; r++)
    for (int i = 0; i < counts[r]; i++) ragged_all[displs[r] + i] = message(group, rank, r, i);
  part = ints(mine);
  RUN(Scatterv, ragged_all, counts, displs, MPI_INT, part, mine, MPI_INT, given);
  for (int i = 0; i < mine; i++) CHECK_EQ(part[i], here ? -1 : message(other, root, rank, i));
  free(part);
  free(data);

  data = contribution(count);
  part = ints(count);
  RUN(Reduce, data, part, count, MPI_INT, MPI_SUM, given);
  for (int i = 0; at_root && i < count; i++) {
    int sum = 0;
    for (int r = 0; r < others; r++) sum += value(other, r, i);
    CHECK_EQ(part[i], sum);
  }
  free(part);
  free(data);
  free(all);
  free(counts);
  free(displs);
  free(ragged_all);
}

static void test_allgather(int count) {
  int *data = contribution(count), *all = ints((long)others * count);
  RUN(Allgather, data, count, MPI_INT, all, count, MPI_INT);
  for (int i = 0; i < others * count; i++) CHECK_EQ(all[i], value(other, i / count, i % count));
  free(data);
  free(all);

  int *counts = ints(others), *displs = ints(others), total = 0, mine = ragged(group, rank, count);
  for (int r = others - 1; r >= 0; r--) { /* in another order than the ranks' */
    counts[r] = ragged(other, r, count);
    displs[r] = total;
    total += counts[r] + 1;
  }
  data = contribution(mine);
  all = ints(total);
  RUN(Allgatherv, data, mine, MPI_INT, all, counts, displs, MPI_INT);
  for (int r = 0; r < others; r++) {
    for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[displs[r] + i], value(other, r, i));
    CHECK_EQ(all[displs[r] + counts[r]], -1);
  }
  free(data);
  free(all);
  free(counts);
  free(displs);
}

static void test_alltoall(int count) {
  int *send = ints((long)others * count), *recv = ints((long)others * count);
  for (int i = 0; i < others * count; i++) send[i] = message(group, rank, i / count, i % count);
  RUN(Alltoall, send, count, MPI_INT, recv, count, MPI_INT);
  for (int i = 0; i < others * count; i++) CHECK_EQ(recv[i], message(other, i / count, rank, i % count));

  int *counts = ints(others), *displs = ints(others), *bytes = ints(others);
  MPI_Datatype* types = check_malloc((size_t)others * sizeof *types);
  for (int r = 0; r < others; r++) {
    counts[r] = (r + rank) % 2 * count; /* the same in both directions */
    displs[r] = r * count;
    bytes[r] = displs[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  for (int form = 0; form < 2; form++) {
    for (int i = 0; i < others * count; i++) recv[i] = -1;
    if (form == 0) {
      RUN(Alltoallv, send, counts, displs, MPI_INT, recv, counts, displs, MPI_INT);
    } else {
      RUN(Alltoallw, send, counts, bytes, types, recv, counts, bytes, types);
    }
    for (int i = 0; i < others * count; i++)
      CHECK_EQ(recv[i], i % count < counts[i / count] ? message(other, i / count, rank, i % count) : -1);
  }
  free(send);
  free(recv);
  free(counts);
  free(displs);
  free(bytes);
  free(types);
}

/* Does not commute: keeps the first operand. */
static void first_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*count * sizeof(int));
}

static void test_reductions(int count) {
  int *data = contribution(count), *result = ints(count);
  RUN(Allreduce, data, result, count, MPI_INT, MPI_SUM);
  for (int i = 0; i < count; i++) {
    int sum = 0;
    for (int r = 0; r < others; r++) sum += value(other, r, i);
    CHECK_EQ(result[i], sum);
  }
  MPI_Op first;
  CHECK_OK(MPI_Op_create(first_op, 0, &first));
  RUN(Allreduce, data, result, count, MPI_INT, first);
  for (int i = 0; i < count; i++) CHECK_EQ(result[i], value(other, 0, i));
  CHECK_OK(MPI_Op_free(&first));
  free(data);
  free(result);

  /* Vectors of size * others * count elements: each group divides the other's result evenly. */
  int total = size * others * count, mine = others * count;
  data = contribution(total);
  result = ints(mine);
  RUN(Reduce_scatter_block, data, result, mine, MPI_INT, MPI_MAX);
  for (int i = 0; i < mine; i++) CHECK_EQ(result[i], value(other, others - 1, rank * mine + i));
  /* And unevenly: everything to the last. */
  int* counts = ints(size);
  for (int r = 0; r < size; r++) counts[r] = r == size - 1 ? total : 0;
  free(result);
  result = ints(counts[rank]);
  RUN(Reduce_scatter, data, result, counts, MPI_INT, MPI_MAX);
  for (int i = 0; i < counts[rank]; i++) CHECK_EQ(result[i], value(other, others - 1, i));
  free(counts);
  free(data);
  free(result);
}

static void test_errors(void) {
  int a[64] = {0}, b[64] = {0};
  CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, others, inter), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, -77, inter), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, others, inter), MPI_ERR_ROOT);
#ifdef MPI_ABI_VERSION
  const int given = group == 0 && rank == 0 ? MPI_ROOT : group == 0 ? MPI_PROC_NULL : 0;
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_TOPOLOGY);
  if (group == 1 || given == MPI_ROOT)
    CHECK_CLASS(MPI_Bcast(a, -1, MPI_INT, given, inter), MPI_ERR_COUNT);
  else
    CHECK_OK(MPI_Bcast(NULL, -1, MPI_DATATYPE_NULL, MPI_PROC_NULL, inter)); /* looks at nothing */
#endif
}

static void test_split(int color) {
  MPI_Comm local;
  int n[2] = {0, 0};
  group = color;
  other = 1 - color;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &local));
  CHECK_OK(MPI_Comm_size(local, &n[color]));
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, n, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  int first_of_other, mine = world_rank, leaders[2] = {world_size, world_size};
  CHECK_OK(MPI_Bcast(&mine, 1, MPI_INT, 0, local));
  leaders[color] = mine;
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, leaders, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  first_of_other = leaders[other];
  CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, first_of_other, 12, &inter));
  CHECK_OK(MPI_Comm_rank(inter, &rank));
  CHECK_OK(MPI_Comm_size(inter, &size));
  CHECK_OK(MPI_Comm_remote_size(inter, &others));
  CHECK_EQ(others, n[other]);
  static const int kCounts[] = {1, 4, 900};
  for (nonblocking = 0; nonblocking < 2; nonblocking++) {
    for (int c = 0; c < 3; c++) {
      int count = kCounts[c];
      test_barrier();
      for (int g = 0; g < 2; g++)
        for (int root = 0; root < n[g]; root += root < 2 ? 1 : 5) test_rooted(g, root, count);
      test_allgather(count);
      test_alltoall(count);
      test_reductions(count > 4 ? 20 : count);
    }
  }
  test_errors();
  test_barrier();
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Comm_free(&local));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (world_size >= 2) {
    test_split(world_rank % 2);
    test_split(world_rank > 0);
    if (world_size > 3) test_split(world_rank < world_size - 2);
  }
  return check_end();
}
