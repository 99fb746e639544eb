/* Cartesian topologies: create, get, coords, rank, shift, sub, map, MPI_Dims_create, MPI_Topo_test. MPI
 * report, 8.5. */
#include "check.h"

static void test_dims_create(void) {
  static const struct {
    int nodes, ndims, in[4], out[4];
  } cases[] = {
      {6, 2, {0, 0}, {3, 2}},
      {7, 2, {0, 0}, {7, 1}},
      {6, 3, {0, 3, 0}, {2, 3, 1}},
      {12, 3, {0, 0, 0}, {3, 2, 2}},
      {16, 2, {0, 0}, {4, 4}},
      {64, 3, {0, 0, 0}, {4, 4, 4}},
      {1, 2, {0, 0}, {1, 1}},
      {24, 3, {0, 0, 0}, {4, 3, 2}},
      {1000, 3, {0, 0, 0}, {10, 10, 10}},
      {36, 2, {0, 0}, {6, 6}},
      {8, 1, {0}, {8}},
      {30, 4, {0, 5, 0, 0}, {3, 5, 2, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int dims[4];
    memcpy(dims, cases[i].in, sizeof dims);
    CHECK_OK(MPI_Dims_create(cases[i].nodes, cases[i].ndims, dims));
    for (int d = 0; d < cases[i].ndims; d++) CHECK_EQ(dims[d], cases[i].out[d]);
  }
}

/* A grid over all ranks, with some directions periodic. */
static void test_grid(int ndims) {
  int dims[4] = {0}, periods[4], got_dims[4], got_periods[4], coords[4], other[4], rank, size, topology = -1,
      n = -1;
  MPI_Comm cart;
  for (int d = 0; d < ndims; d++) periods[d] = d % 2 == 0;
  CHECK_OK(MPI_Dims_create(world_size, ndims, dims));
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart));
  CHECK_OK(MPI_Comm_rank(cart, &rank));
  CHECK_OK(MPI_Comm_size(cart, &size));
  CHECK_EQ(size, world_size);
  CHECK_EQ(rank, world_rank); /* no reordering asked for */
  CHECK_OK(MPI_Topo_test(cart, &topology));
  CHECK_EQ(topology, MPI_CART);
  CHECK_OK(MPI_Cartdim_get(cart, &n));
  CHECK_EQ(n, ndims);
  CHECK_OK(MPI_Cart_get(cart, ndims, got_dims, got_periods, coords));
  int expected = 0; /* row-major order */
  for (int d = 0; d < ndims; d++) {
    CHECK_EQ(got_dims[d], dims[d]);
    CHECK_EQ(got_periods[d] != 0, periods[d]);
    expected = expected * dims[d] + coords[d];
  }
  CHECK_EQ(expected, rank);
  for (int r = 0; r < size; r++) {
    int back = -1;
    CHECK_OK(MPI_Cart_coords(cart, r, ndims, other));
    CHECK_OK(MPI_Cart_rank(cart, other, &back));
    CHECK_EQ(back, r);
  }
  for (int d = 0; d < ndims; d++) { /* coordinates outside wrap in periodic directions */
    if (!periods[d]) continue;
    int back = -1;
    memcpy(other, coords, sizeof other);
    other[d] = coords[d] - 2 * dims[d];
    CHECK_OK(MPI_Cart_rank(cart, other, &back));
    CHECK_EQ(back, rank);
  }
  for (int d = 0; d < ndims; d++)
    for (int displacement = -2; displacement <= 2; displacement++) {
      int source = -9, dest = -9, want[2];
      CHECK_OK(MPI_Cart_shift(cart, d, displacement, &source, &dest));
      for (int side = 0; side < 2; side++) {
        memcpy(other, coords, sizeof other);
        other[d] += side ? displacement : -displacement;
        if (periods[d] || (other[d] >= 0 && other[d] < dims[d])) {
          CHECK_OK(MPI_Cart_rank(cart, other, &want[side]));
        } else {
          want[side] = MPI_PROC_NULL;
        }
      }
      CHECK_EQ(source, want[0]);
      CHECK_EQ(dest, want[1]);
      int got = -1; /* and it communicates */
      CHECK_OK(
          MPI_Sendrecv(&rank, 1, MPI_INT, dest, d, &got, 1, MPI_INT, source, d, cart, MPI_STATUS_IGNORE));
      CHECK_EQ(got, source == MPI_PROC_NULL ? -1 : source);
    }
  MPI_Comm dup;
  CHECK_OK(MPI_Comm_dup(cart, &dup)); /* takes the topology along */
  CHECK_OK(MPI_Topo_test(dup, &topology));
  CHECK_EQ(topology, MPI_CART);
  CHECK_OK(MPI_Cart_coords(dup, rank, ndims, other));
  for (int d = 0; d < ndims; d++) CHECK_EQ(other[d], coords[d]);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&cart));
}

/* Rows, columns and planes. */
static void test_sub(void) {
  int dims[3] = {0}, periods[3] = {1, 0, 1}, coords[3], n = -1;
  MPI_Comm cart;
  CHECK_OK(MPI_Dims_create(world_size, 3, dims));
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &cart));
  int rank;
  CHECK_OK(MPI_Comm_rank(cart, &rank));
  CHECK_OK(MPI_Cart_coords(cart, rank, 3, coords));
  for (int mask = 0; mask < 8; mask++) {
    int remain[3] = {mask & 1, mask >> 1 & 1, mask >> 2 & 1}, size, want = 1, kept = 0, sub_rank,
        want_rank = 0;
    MPI_Comm sub;
#ifdef MPICH_VERSION /* MPICH 4.0 gives ranks other than 0 no communicator of zero dimensions */
    if (mask == 0) continue;
#endif
    CHECK_OK(MPI_Cart_sub(cart, remain, &sub));
    for (int d = 0; d < 3; d++)
      if (remain[d]) want *= dims[d], kept++, want_rank = want_rank * dims[d] + coords[d];
    CHECK_OK(MPI_Comm_size(sub, &size));
    CHECK_EQ(size, want);
    CHECK_OK(MPI_Comm_rank(sub, &sub_rank));
    CHECK_EQ(sub_rank, want_rank);
    CHECK_OK(MPI_Cartdim_get(sub, &n));
    CHECK_EQ(n, kept);
    if (kept > 0) {
      int sub_dims[3], sub_periods[3], sub_coords[3];
      CHECK_OK(MPI_Cart_get(sub, kept, sub_dims, sub_periods, sub_coords));
      for (int d = 0, k = 0; d < 3; d++)
        if (remain[d]) {
          CHECK_EQ(sub_dims[k], dims[d]);
          CHECK_EQ(sub_periods[k] != 0, periods[d]);
          CHECK_EQ(sub_coords[k], coords[d]);
          k++;
        }
    }
    int sum = -1, one = 1;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, sub));
    CHECK_EQ(sum, want);
    CHECK_OK(MPI_Comm_free(&sub));
  }
  CHECK_OK(MPI_Comm_free(&cart));
}

/* A grid smaller than the communicator leaves ranks out; one of no dimension has one rank. */
static void test_smaller(void) {
  int dims[1] = {(world_size + 1) / 2}, periods[1] = {0}, n = -1, newrank = -9;
  MPI_Comm cart;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
  CHECK_EQ(cart != MPI_COMM_NULL, world_rank < dims[0]);
  if (cart != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&cart));
  CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank));
#ifndef OPEN_MPI /* answers with the old rank */
  CHECK(newrank == MPI_UNDEFINED || (newrank >= 0 && newrank < dims[0]));
#endif
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
  CHECK_EQ(cart != MPI_COMM_NULL, world_rank == 0);
  if (cart != MPI_COMM_NULL) {
    CHECK_OK(MPI_Cartdim_get(cart, &n));
    CHECK_EQ(n, 0);
    CHECK_OK(MPI_Comm_free(&cart));
  }
}

static void test_errors(void) {
  int dims[2] = {world_size + 1, 1}, periods[2] = {0, 0}, rank, negative[2] = {-1, 1}, wrong[2] = {4, 0},
      outside[1] = {world_size};
  MPI_Comm cart;
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, negative, periods, 0, &cart), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(6, 2, wrong), MPI_ERR_DIMS);
#else
  (void)dims, (void)negative, (void)wrong;
#endif
  CHECK_CLASS(MPI_Cart_rank(MPI_COMM_WORLD, periods, &rank), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &rank, &rank), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &rank), MPI_ERR_TOPOLOGY);
  CHECK_OK(MPI_Topo_test(MPI_COMM_WORLD, &rank));
  CHECK_EQ(rank, MPI_UNDEFINED);
  dims[0] = world_size;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Cart_coords(cart, world_size, 1, outside), MPI_ERR_RANK);
  outside[0] = world_size;
  CHECK_CLASS(MPI_Cart_rank(cart, outside, &rank), MPI_ERR_ARG);
  int class_ = class_of(MPI_Cart_shift(cart, 1, 1, &rank, &rank)); /* the standard does not say which */
  CHECK(class_ == MPI_ERR_ARG || class_ == MPI_ERR_DIMS);
#endif
  CHECK_OK(MPI_Comm_free(&cart));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_dims_create();
  for (int ndims = 1; ndims <= 4; ndims++) test_grid(ndims);
  test_sub();
  test_smaller();
  test_errors();
  return check_end();
}
