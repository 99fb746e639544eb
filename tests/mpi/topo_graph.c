/* Graph topologies, general and distributed. MPI report, 8.5.3 to 8.5.5. */
#include "check.h"

static int *unweighted, *weights_empty; /* variables: gcc warns of the constants */

/* The neighbours of node i in a test graph of n nodes: i % 3 + 1 of them, with repeats and itself. */
static int degree(int i) {
  return i % 3 + 1;
}
static int neighbour(int i, int k, int n) {
  return (i * (k + 2) + k) % n;
}

static void test_graph(int nodes) {
  int* index = check_malloc(sizeof(int) * (size_t)nodes);
  int* edges = check_malloc(sizeof(int) * (size_t)nodes * 3);
  int count = 0;
  for (int i = 0; i < nodes; i++) {
    for (int k = 0; k < degree(i); k++) edges[count++] = neighbour(i, k, nodes);
    index[i] = count;
  }
  MPI_Comm graph, dup;
  int rank, size, kind, newrank, n, e, got[3];
  CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &newrank));
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph));
  if (world_rank >= nodes) {
    CHECK(graph == MPI_COMM_NULL);
#ifndef OPEN_MPI
    CHECK_EQ(newrank, MPI_UNDEFINED);
#endif
  } else {
    MPI_Comm_rank(graph, &rank);
    MPI_Comm_size(graph, &size);
    CHECK_EQ(rank, world_rank);
    CHECK_EQ(size, nodes);
    CHECK_OK(MPI_Comm_dup(graph, &dup)); /* a duplicate has the topology too */
    CHECK_OK(MPI_Topo_test(dup, &kind));
    CHECK_EQ(kind, MPI_GRAPH);
    CHECK_OK(MPI_Graphdims_get(dup, &n, &e));
    CHECK_EQ(n, nodes);
    CHECK_EQ(e, count);
    int* index2 = check_malloc(sizeof(int) * (size_t)nodes);
    int* edges2 = check_malloc(sizeof(int) * (size_t)nodes * 3);
    CHECK_OK(MPI_Graph_get(dup, nodes, count, index2, edges2));
    CHECK(memcmp(index, index2, sizeof(int) * (size_t)nodes) == 0 &&
          memcmp(edges, edges2, sizeof(int) * (size_t)count) == 0);
    free(index2), free(edges2);
    for (int i = 0; i < nodes; i++) {
      CHECK_OK(MPI_Graph_neighbors_count(dup, i, &n));
      CHECK_EQ(n, degree(i));
      CHECK_OK(MPI_Graph_neighbors(dup, i, n, got));
      for (int k = 0; k < n; k++) CHECK_EQ(got[k], neighbour(i, k, nodes));
    }
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&graph));
  }
  free(index), free(edges);
}

/* A ring with weights, each rank its own edges. */
static void test_adjacent(int weighted) {
  const int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
  int sources[] = {left, right, left}, destinations[] = {right, left, right};
  int in_weights[] = {left, 100 + right, 200}, out_weights[] = {world_rank, 100 + world_rank, 200};
  MPI_Comm ring, dup;
  int kind, in, out, flag, s[3], sw[3] = {-1, -1, -1}, d[3], dw[3];
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, weighted ? in_weights : unweighted, 3,
                                          destinations, weighted ? out_weights : unweighted, MPI_INFO_NULL, 1,
                                          &ring));
  CHECK_OK(MPI_Comm_dup(ring, &dup));
  CHECK_OK(MPI_Topo_test(dup, &kind));
  CHECK_EQ(kind, MPI_DIST_GRAPH);
  CHECK_OK(MPI_Dist_graph_neighbors_count(dup, &in, &out, &flag));
  CHECK(in == 3 && out == 3 && !flag == !weighted);
  CHECK_OK(MPI_Dist_graph_neighbors(dup, 3, s, weighted ? sw : unweighted, 3, d, weighted ? dw : unweighted));
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(s[i], sources[i]);
    CHECK_EQ(d[i], destinations[i]);
    if (weighted) CHECK(sw[i] == in_weights[i] && dw[i] == out_weights[i]);
  }
#ifndef MPICH_VERSION
  s[1] = d[1] = -7; /* only as many as there is room for */
  CHECK_OK(MPI_Dist_graph_neighbors(dup, 1, s, weighted ? sw : unweighted, 1, d, weighted ? dw : unweighted));
  CHECK(s[0] == left && s[1] == -7 && d[0] == right && d[1] == -7);
#endif
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&ring));
}

/* Ranks without edges, and a rank that alone names all edges of the others. */
static void test_nobody(void) {
  MPI_Comm comm;
  int in, out, weighted;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, weights_empty, 0, NULL, weights_empty,
                                          MPI_INFO_NULL, 0, &comm));
  CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  CHECK(in == 0 && out == 0 && weighted);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Edge k of the random graph of `seed`. Every rank can tell all of them. */
struct edge {
  int by, source, destination, weight;
};
static struct edge edge_of(int seed, int k) {
  uint64_t state = (uint64_t)seed * 1000003u + (uint64_t)k;
  random_next(&state);
  struct edge e;
  e.by = (int)(random_next(&state) % (unsigned)world_size);
  e.source = (int)(random_next(&state) % (unsigned)world_size);
  e.destination = (int)(random_next(&state) % (unsigned)world_size);
  e.weight = (int)(random_next(&state) % 1000);
  return e;
}

static int order(const void* a, const void* b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Any rank names any edge; each rank must find all that begin or end at it. */
static void test_general(int seed, int edges, int only_by, int weighted) {
  int *sources = check_malloc(sizeof(int) * (size_t)edges),
      *degrees = check_malloc(sizeof(int) * (size_t)edges);
  int *destinations = check_malloc(sizeof(int) * (size_t)edges),
      *weights = check_malloc(sizeof(int) * (size_t)edges);
  int(*want_in)[2] = check_malloc(sizeof(int[2]) * (size_t)edges),
  (*want_out)[2] = check_malloc(sizeof(int[2]) * (size_t)edges);
  int n = 0, total = 0, in = 0, out = 0, got_in, got_out, flag;
  for (int k = 0; k < edges; k++) {
    struct edge e = edge_of(seed, k);
    if (only_by >= 0) e.by = only_by % world_size;
    if (e.by == world_rank) {
      /* edges of one source one after another are named together */
      if (n > 0 && sources[n - 1] == e.source) {
        degrees[n - 1]++;
      } else {
        sources[n] = e.source;
        degrees[n++] = 1;
      }
      destinations[total] = e.destination;
      weights[total++] = e.weight;
    }
    if (e.destination == world_rank) want_in[in][0] = e.source, want_in[in++][1] = weighted ? e.weight : 0;
    if (e.source == world_rank)
      want_out[out][0] = e.destination, want_out[out++][1] = weighted ? e.weight : 0;
  }
  MPI_Comm comm;
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                                 weighted ? weights : unweighted, MPI_INFO_NULL, 0, &comm));
  CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &got_in, &got_out, &flag));
  CHECK_EQ(got_in, in);
  CHECK_EQ(got_out, out);
  CHECK_EQ(!flag, !weighted);
  const size_t ints = sizeof(int) * (size_t)(edges + 1);
  int *s = check_malloc(ints), *sw = calloc(1, ints), *d = check_malloc(ints), *dw = calloc(1, ints);
  CHECK_OK(
      MPI_Dist_graph_neighbors(comm, in, s, weighted ? sw : unweighted, out, d, weighted ? dw : unweighted));
  int(*have_in)[2] = check_malloc(sizeof(int[2]) * (size_t)edges),
  (*have_out)[2] = check_malloc(sizeof(int[2]) * (size_t)edges);
  for (int i = 0; i < in; i++) have_in[i][0] = s[i], have_in[i][1] = sw[i];
  for (int i = 0; i < out; i++) have_out[i][0] = d[i], have_out[i][1] = dw[i];
  qsort(have_in, (size_t)in, sizeof *have_in, order), qsort(want_in, (size_t)in, sizeof *want_in, order);
  qsort(have_out, (size_t)out, sizeof *have_out, order),
      qsort(want_out, (size_t)out, sizeof *want_out, order);
  CHECK(memcmp(have_in, want_in, sizeof *want_in * (size_t)in) == 0);
  CHECK(memcmp(have_out, want_out, sizeof *want_out * (size_t)out) == 0);
  /* Both calls give the same order, also in a duplicate. */
  MPI_Comm dup;
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  int* again = check_malloc(ints);
  CHECK_OK(MPI_Dist_graph_neighbors(dup, in, again, weighted ? sw : unweighted, out, d,
                                    weighted ? dw : unweighted));
  CHECK(memcmp(again, s, sizeof(int) * (size_t)in) == 0);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&comm));
  free(sources), free(degrees), free(destinations), free(weights), free(want_in), free(want_out),
      free(have_in), free(have_out);
  free(s), free(sw), free(d), free(dw), free(again);
}

static void test_errors(void) {
#ifdef MPI_ABI_VERSION
  MPI_Comm comm, graph;
  int n, e, list[4], index[] = {1, 2}, edges[] = {0, 0}, bad_edges[] = {0, 5}, bad_index[] = {2, 1},
                     minus = -1, zero = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, world_size + 1, index, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, bad_edges + 1, 0, &comm), MPI_ERR_ARG);
  if (world_size > 1) CHECK_CLASS(MPI_Graph_map(MPI_COMM_WORLD, 2, bad_index, edges, &n), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &e), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &e, &n), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_NULL, 1, index, edges, 0, &comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, list, unweighted, 0, list, unweighted,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &minus, unweighted, 0, list, unweighted,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &minus, 0, list, weights_empty,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, weights_empty, 0, list, weights_empty,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, list, unweighted, 0, list, unweighted,
                                             (MPI_Info)8, 0, &comm),
              MPI_ERR_INFO);
  CHECK_CLASS(
      MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, &minus, list, unweighted, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &minus, &zero, list, unweighted, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_ARG);
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &graph));
  if (graph != MPI_COMM_NULL) {
    CHECK_CLASS(MPI_Graph_neighbors_count(graph, 1, &n), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_neighbors(graph, -1, 1, list), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_neighbors(graph, 0, -1, list), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cartdim_get(graph, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_get(graph, 1, 1, NULL, list), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&graph));
  }
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  unweighted = MPI_UNWEIGHTED;
  weights_empty = MPI_WEIGHTS_EMPTY;
  test_graph(world_size);
  test_graph(1);
  test_graph((world_size + 1) / 2);
  test_adjacent(0);
  test_adjacent(1);
  test_nobody();
  for (int seed = 0; seed < 4; seed++) test_general(seed, 5 * world_size + seed, -1, seed % 2);
  test_general(9, 3 * world_size, 0, 1); /* rank 0 names all edges */
  test_general(10, 1, 2, 0);
  test_errors();
  return check_end();
}
