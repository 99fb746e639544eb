/* MPI_Type_create_subarray and MPI_Type_create_darray: which elements they take, their bounds, decoding them,
 * pieces of an array sent and put together again, and wrong arguments. MPI report, 5.1.3, 5.1.4, 5.1.13. */
#include "check.h"

enum { kRows = 6, kColumns = 7 };

static void check_extent(MPI_Datatype type, MPI_Aint want, int want_size) {
  MPI_Aint lb, extent;
  int size;
  CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
  CHECK_EQ(lb, 0);
  CHECK_EQ(extent, want);
  CHECK_OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, want_size);
}

static void test_subarray(void) {
  int array[kRows * kColumns], packed[kRows * kColumns], position = 0;
  MPI_Datatype type;
  for (int i = 0; i < kRows * kColumns; i++) array[i] = i;
  CHECK_OK(MPI_Type_create_subarray(2, (int[]){kRows, kColumns}, (int[]){2, 3}, (int[]){1, 4}, MPI_ORDER_C,
                                    MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  check_extent(type, kRows * kColumns * 4, 24);
  CHECK_OK(MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 3; c++) CHECK_EQ(packed[r * 3 + c], (1 + r) * kColumns + 4 + c);
  CHECK_OK(MPI_Type_free(&type));
  /* The same block with the other order: the first dimension varies fastest. */
  CHECK_OK(MPI_Type_create_subarray(2, (int[]){kRows, kColumns}, (int[]){2, 3}, (int[]){1, 4},
                                    MPI_ORDER_FORTRAN, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  position = 0;
  CHECK_OK(MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 2; r++) CHECK_EQ(packed[c * 2 + r], (4 + c) * kRows + 1 + r);
  CHECK_OK(MPI_Type_free(&type));
}

/* Every process of a grid takes its part; together they take each element once. */
static void test_darray(void) {
  const int gsizes[3] = {5, 4, 6}, psizes[3] = {2, 1, 3};
  const int distribs[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
  const int dargs[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 2};
  int array[120], seen[120] = {0}, total = 0;
  for (int i = 0; i < 120; i++) array[i] = i;
  for (int rank = 0; rank < 6; rank++) {
    int packed[120], position = 0, size;
    MPI_Datatype type;
    CHECK_OK(
        MPI_Type_create_darray(6, rank, 3, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size(type, &size));
    check_extent(type, 480, size);
    CHECK_OK(MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
    for (int i = 0; i < size / 4; i++) {
      int first = packed[i] / 24, last = packed[i] % 6;
      CHECK_EQ(first / 3, rank / 3);
      CHECK_EQ(last / 2 % 3, rank % 3);
      seen[packed[i]]++;
    }
    total += size / 4;
    CHECK_OK(MPI_Type_free(&type));
  }
  CHECK_EQ(total, 120);
  for (int i = 0; i < 120; i++) CHECK_EQ(seen[i], 1);
}

/* Rank 0 deals a matrix out by columns, cyclically; everybody gets whole columns. */
static void test_deal(void) {
  int *matrix = NULL, columns = 2 * world_size, mine[2 * 4];
  MPI_Request request;
  CHECK_OK(MPI_Irecv(mine, 8, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
  if (world_rank == 0) {
    matrix = check_malloc(sizeof(int) * 4 * (size_t)columns);
    for (int i = 0; i < 4 * columns; i++) matrix[i] = i;
    for (int to = 0; to < world_size; to++) {
      MPI_Datatype type;
      CHECK_OK(MPI_Type_create_darray(world_size, to, 2, (int[]){4, columns},
                                      (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
                                      (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
                                      (int[]){1, world_size}, MPI_ORDER_C, MPI_INT, &type));
      CHECK_OK(MPI_Type_commit(&type));
      CHECK_OK(MPI_Send(matrix, 1, type, to, 1, MPI_COMM_WORLD));
      CHECK_OK(MPI_Type_free(&type));
    }
  }
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 2; c++) CHECK_EQ(mine[2 * r + c], r * columns + world_rank + c * world_size);
  free(matrix);
}

static void test_contents(void) {
  MPI_Datatype type, old;
  int ni, na, nd, combiner, integers[16];
  MPI_Aint addresses[1];
  CHECK_OK(
      MPI_Type_create_subarray(2, (int[]){6, 7}, (int[]){2, 3}, (int[]){1, 4}, MPI_ORDER_C, MPI_INT, &type));
  CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_SUBARRAY);
  CHECK(ni == 8 && na == 0 && nd == 1);
  CHECK_OK(MPI_Type_get_contents(type, 16, 1, 1, integers, addresses, &old));
  CHECK(old == MPI_INT);
  const int want[8] = {2, 6, 7, 2, 3, 1, 4, MPI_ORDER_C};
  for (int i = 0; i < 8; i++) CHECK_EQ(integers[i], want[i]);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_darray(6, 4, 2, (int[]){5, 8},
                                  (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, (int[]){3, 2},
                                  (int[]){2, 3}, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type));
  CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_DARRAY);
  CHECK(ni == 12 && na == 0 && nd == 1);
  CHECK_OK(MPI_Type_get_contents(type, 16, 1, 1, integers, addresses, &old));
  CHECK(old == MPI_DOUBLE);
  const int wanted[12] = {
      6, 4, 2, 5, 8, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 3, 2, 2, 3, MPI_ORDER_FORTRAN};
  for (int i = 0; i < 12; i++) CHECK_EQ(integers[i], wanted[i]);
  CHECK_OK(MPI_Type_free(&type));
}

#ifdef MPI_ABI_VERSION
/* Made by the large-count forms: sizes are large counts, everything else stays an integer. */
static void test_large_contents(void) {
  MPI_Datatype type, old;
  MPI_Count ni, na, nc, nd, counts[8];
  int combiner, integers[16], small;
  const MPI_Count huge = (MPI_Count)3 << 32;
  CHECK_OK(MPI_Type_create_subarray_c(2, (MPI_Count[]){huge, 7}, (MPI_Count[]){2, 3},
                                      (MPI_Count[]){huge - 2, 4}, MPI_ORDER_C, MPI_INT, &type));
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(ni == 2 && na == 0 && nc == 6 && nd == 1 && combiner == MPI_COMBINER_SUBARRAY);
  CHECK_OK(MPI_Type_get_contents_c(type, 16, 0, 8, 1, integers, NULL, counts, &old));
  CHECK(integers[0] == 2 && integers[1] == MPI_ORDER_C && old == MPI_INT);
  CHECK(counts[0] == huge && counts[1] == 7 && counts[4] == huge - 2 && counts[5] == 4);
  CHECK_CLASS(MPI_Type_get_envelope(type, &small, &small, &small, &combiner), MPI_ERR_TYPE);
  MPI_Count lb, extent;
  CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
  CHECK(lb == 0 && extent == huge * 28);
  CHECK_OK(MPI_Type_get_true_extent_c(type, &lb, &extent));
  CHECK(lb == ((huge - 2) * 7 + 4) * 4 && extent == 40);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_darray_c(3, 1, 1, &huge, (int[]){MPI_DISTRIBUTE_BLOCK},
                                    (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){3}, MPI_ORDER_C, MPI_BYTE,
                                    &type));
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(ni == 7 && na == 0 && nc == 1 && nd == 1 && combiner == MPI_COMBINER_DARRAY);
  CHECK_OK(MPI_Type_get_true_extent_c(type, &lb, &extent));
  CHECK(lb == huge / 3 && extent == huge / 3);
  CHECK_OK(MPI_Type_free(&type));
}

static void test_errors(void) {
  MPI_Datatype type;
  const int one[2] = {1, 1}, two[2] = {2, 2}, bad[2] = {1, -1}, none[2] = {0, 0};
  const int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, wrong[2] = {MPI_DISTRIBUTE_BLOCK, 5};
  const int dflt[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  CHECK_CLASS(MPI_Type_create_subarray(0, one, one, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Type_create_subarray(2, one, two, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(2, two, one, two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(2, bad, one, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(2, two, one, none, 99, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(2, NULL, one, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(2, two, one, none, MPI_ORDER_C, MPI_DATATYPE_NULL, &type),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_create_subarray(2, two, one, none, MPI_ORDER_C, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray(4, 4, 2, two, block, dflt, two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_RANK);
  CHECK_CLASS(MPI_Type_create_darray(3, 0, 2, two, block, dflt, two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray(4, 0, 2, two, wrong, dflt, two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray(4, 0, 2, (int[]){3, 3}, block, one, two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_ARG); /* blocks of 1 do not cover 3 elements on 2 processes */
  CHECK_CLASS(MPI_Type_create_darray(4, 0, 2, two, block, dflt, two, 99, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray(4, 0, 2, two, (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK}, dflt,
                                     two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray(4, 0, 2, two, NULL, dflt, two, MPI_ORDER_C, MPI_INT, &type),
              MPI_ERR_ARG);
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_subarray();
  test_darray();
  test_deal();
  test_contents();
#ifdef MPI_ABI_VERSION
  test_large_contents();
  test_errors();
#endif
  return check_end();
}
