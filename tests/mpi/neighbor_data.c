/* Neighbourhood collectives on grids, graphs and distributed graphs: each against a reference of messages, in
 * blocking, nonblocking and persistent form. What comes from one rank over several edges must arrive in the
 * order of the standard (MPI report, 8.6): on a ring of two ranks, what was sent downwards comes from above.
 */
#include "check.h"

enum { kMost = 64, kLongest = 700 };

static MPI_Comm comm;
static int rank, size;
static int in, out; /* degrees */
static int sources[kMost], destinations[kMost];
static int from_edge[kMost]; /* which of its edges the source sent over to me: index in its destinations */

/* Element i of what `from` sends over its edge `edge`. */
static int value(int from, int edge, int i) {
  return from * 1009 + edge * 131 + i * 7;
}

/* Message k has length_of(sender, edge) elements in the v- and w-variants: known to both ends. */
static int length_of(int from, int edge, int count) {
  return (from + edge) % 3 * count;
}

static int *send_data, *recv_data, *right;
static int send_counts[kMost], recv_counts[kMost], send_displs[kMost], recv_displs[kMost];
static MPI_Aint send_bytes[kMost], recv_bytes[kMost];
static MPI_Datatype types[kMost];

static void check_received(int n, const char* what) {
  for (int i = 0; i < n; i++)
    if (recv_data[i] != right[i])
      check_failed(__FILE__, __LINE__, "%s: element %d is %d, should be %d", what, i, recv_data[i], right[i]);
}

static void clear(void) {
  for (int i = 0; i < kMost * kLongest; i++) recv_data[i] = -1;
}

/* What shall be received: with `one` the same from each of the source's edges, `ragged` in chunks of
 * different lengths, one element apart. Returns the number of ints. */
static int expect(int count, int one, int ragged) {
  int place = 0;
  for (int i = 0; i < kMost * kLongest; i++) right[i] = -1;
  for (int k = 0; k < in; k++) {
    int edge = one ? 0 : from_edge[k];
    recv_counts[k] = sources[k] == MPI_PROC_NULL ? 2 : ragged ? length_of(sources[k], edge, count) : count;
    recv_displs[k] = place;
    recv_bytes[k] = place * (MPI_Aint)sizeof(int);
    if (sources[k] != MPI_PROC_NULL)
      for (int i = 0; i < recv_counts[k]; i++) right[place + i] = value(sources[k], edge, i);
    place += ragged ? recv_counts[k] + 1 : count;
  }
  return place;
}

static void fill_alltoall(int count, int ragged) {
  int place = 0;
  for (int k = 0; k < out; k++) {
    send_counts[k] = ragged ? length_of(rank, k, count) : count;
    send_displs[k] = place;
    send_bytes[k] = place * (MPI_Aint)sizeof(int);
    for (int i = 0; i < send_counts[k]; i++) send_data[place + i] = value(rank, k, i);
    place += send_counts[k];
  }
}

/* Runs a call in its three forms. */
#define ALL_FORMS(n, what, name, ...)                            \
  do {                                                           \
    MPI_Request request;                                         \
    clear();                                                     \
    CHECK_OK(MPI_Neighbor_##name(__VA_ARGS__, comm));            \
    check_received(n, what);                                     \
    clear();                                                     \
    CHECK_OK(MPI_Ineighbor_##name(__VA_ARGS__, comm, &request)); \
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));             \
    check_received(n, what);                                     \
    PERSISTENT(n, what, name, __VA_ARGS__);                      \
  } while (0)

#if MPI_VERSION >= 4
#define PERSISTENT(n, what, name, ...)                                              \
  CHECK_OK(MPI_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request)); \
  for (int again = 0; again < 2; again++) {                                         \
    clear();                                                                        \
    CHECK_OK(MPI_Start(&request));                                                  \
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                \
    check_received(n, what);                                                        \
  }                                                                                 \
  CHECK_OK(MPI_Request_free(&request))
#else
#define PERSISTENT(n, what, name, ...) (void)request
#endif

static void test_count(int count) {
  int n;
  for (int i = 0; i < 3 * count; i++) send_data[i] = value(rank, 0, i);
  n = expect(count, 1, 0);
  ALL_FORMS(n, "allgather", allgather, send_data, count, MPI_INT, recv_data, count, MPI_INT);

  n = expect(count, 1, 1);
  ALL_FORMS(n, "allgatherv", allgatherv, send_data, length_of(rank, 0, count), MPI_INT, recv_data,
            recv_counts, recv_displs, MPI_INT);

  fill_alltoall(count, 0);
  n = expect(count, 0, 0);
  ALL_FORMS(n, "alltoall", alltoall, send_data, count, MPI_INT, recv_data, count, MPI_INT);

  fill_alltoall(count, 1);
  n = expect(count, 0, 1);
  ALL_FORMS(n, "alltoallv", alltoallv, send_data, send_counts, send_displs, MPI_INT, recv_data, recv_counts,
            recv_displs, MPI_INT);
  ALL_FORMS(n, "alltoallw", alltoallw, send_data, send_counts, send_bytes, types, recv_data, recv_counts,
            recv_bytes, types);
}

static void test_topology(void) {
  for (int i = 0; i < kMost; i++) types[i] = MPI_INT;
  CHECK(in <= kMost && out <= kMost);
  test_count(0);
  test_count(1);
  test_count(5);
  test_count(200);
  CHECK_OK(MPI_Comm_free(&comm));
}

static void test_cart(int ndims, const int dims[], const int periods[]) {
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
  if (comm == MPI_COMM_NULL) return;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  in = out = 2 * ndims;
  for (int d = 0; d < ndims; d++) {
    CHECK_OK(MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]));
    from_edge[2 * d] = 2 * d + 1; /* my lower neighbour has sent it upwards */
    from_edge[2 * d + 1] = 2 * d;
  }
  memcpy(destinations, sources, sizeof destinations);
  test_topology();
}

static void test_grids(void) {
  for (int periodic = 0; periodic < 2; periodic++) {
    int dims[3] = {world_size, 1, 1}, periods[3] = {periodic, periodic, periodic};
    test_cart(1, dims, periods);
    test_cart(2, dims, periods);
    dims[0] = 0, dims[1] = 0, dims[2] = 0;
    CHECK_OK(MPI_Dims_create(world_size, 2, dims));
    periods[0] = 1;
    test_cart(2, dims, periods);
    dims[0] = 0, dims[1] = 0, dims[2] = 0;
    CHECK_OK(MPI_Dims_create(world_size, 3, dims));
    test_cart(3, dims, periods);
  }
  int none = 0;
  test_cart(0, &none, &none);
}

/* Displacements that are addresses, with MPI_BOTTOM; NULL without addresses is refused. */
static void test_addresses(void) {
  int dims[1] = {world_size}, periods[1] = {1}, from[2], to[2] = {-1, -1}, counts[2] = {1, 1};
  MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
  MPI_Aint from_at[2], to_at[2];
  MPI_Comm ring;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
  for (int i = 0; i < 2; i++) {
    from[i] = 2 * world_rank + i;
    CHECK_OK(MPI_Get_address(&from[i], &from_at[i]));
    CHECK_OK(MPI_Get_address(&to[i], &to_at[i]));
  }
  CHECK_OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from_at, ints, MPI_BOTTOM, counts, to_at, ints, ring));
  CHECK_EQ(to[0], 2 * ((world_rank + world_size - 1) % world_size) + 1);
  CHECK_EQ(to[1], 2 * ((world_rank + 1) % world_size));
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  to_at[1] = 0;
  CHECK_CLASS(MPI_Neighbor_alltoallw(from, counts, from_at, ints, NULL, counts, to_at, ints, ring),
              MPI_ERR_BUFFER);
#endif
  CHECK_OK(MPI_Comm_free(&ring));
}

/* Which edge of its own each source sent over: the same rank's edges to me in the order of its list are what
 * I get in the order of mine. `edge_to(source, k, me)`: destination k of `source`, or -1 behind the last. */
static void match_edges(int (*destination_of)(int source, int k)) {
  int taken[kMost] = {0};
  for (int i = 0; i < in; i++) {
    int nth = taken[i];
    for (int later = i + 1; later < in; later++)
      if (sources[later] == sources[i]) taken[later]++;
    for (int k = 0;; k++) {
      int destination = destination_of(sources[i], k);
      CHECK(destination >= 0);
      if (destination == rank && nth-- == 0) {
        from_edge[i] = k;
        break;
      }
    }
  }
}

/* A star: rank 0 and everybody else, and everybody twice with himself. */
static int star(int source, int k) {
  if (k < 2) return source;
  if (source == 0) return k - 1 < size ? k - 1 : -1;
  return k == 2 ? 0 : -1;
}

static void test_graph(void) {
  int *index = check_malloc((size_t)world_size * sizeof(int)),
      *edges = check_malloc((size_t)(4 * world_size) * sizeof(int)), n = 0;
  if (world_size + 1 > kMost) return;
  size = world_size;
  for (int r = 0; r < world_size; r++) {
    for (int k = 0; star(r, k) >= 0; k++) edges[n++] = star(r, k);
    index[r] = n;
  }
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &comm));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Graph_neighbors_count(comm, rank, &in));
  out = in;
  CHECK_OK(MPI_Graph_neighbors(comm, rank, kMost, sources));
  memcpy(destinations, sources, sizeof destinations);
  match_edges(star);
  test_topology();
  free(index);
  free(edges);
}

/* Everybody to the three ranks above, then once more to the next, and rank 0 to nobody. */
static int forward(int source, int k) {
  return k > 3 || source == 0 ? -1 : (source + (k == 3 ? 1 : k + 1)) % size;
}

static void test_dist_graph(void) {
  int* volatile unweighted = MPI_UNWEIGHTED; /* the compiler knows that nothing is behind the constant */
  size = world_size;
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  in = out = 0;
  while (forward(rank, out) >= 0) destinations[out] = forward(rank, out), out++;
  for (int step = 1; step <= size; step++) { /* from far below first */
    int source = (rank + step) % size;
    for (int k = 0; forward(source, k) >= 0; k++)
      if (forward(source, k) == rank) sources[in++] = source;
  }
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, unweighted, out, destinations,
                                          unweighted, MPI_INFO_NULL, 0, &comm));
  match_edges(forward);
  test_topology();
}

static void test_errors(void) {
  MPI_Comm plain;
  int a[4] = {0}, b[4] = {0}, counts[2] = {-1, -1}, displs[2] = {0, 0};
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &plain));
  CHECK_OK(MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, plain), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_OK(MPI_Comm_free(&plain));
  int dims = 1, period = 1;
  CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 1, &dims, &period, 0, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Neighbor_allgather(a, -1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Neighbor_alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, comm),
              MPI_ERR_COUNT);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, NULL, displs, MPI_INT, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_TRUNCATE);
#endif
  CHECK_OK(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm));
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  send_data = check_malloc(sizeof(int) * kMost * kLongest);
  recv_data = check_malloc(sizeof(int) * kMost * kLongest);
  right = check_malloc(sizeof(int) * kMost * kLongest);
  test_grids();
  test_addresses();
  test_graph();
  test_dist_graph();
  test_errors();
  free(send_data);
  free(recv_data);
  free(right);
  return check_end();
}
