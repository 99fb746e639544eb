/* Counts, sizes and extents beyond 2 GiB, with types that need no memory; what does not fit is MPI_UNDEFINED.
 * MPI report, 2.5.8, 3.2.5, 5.1.5 to 5.1.8, 5.1.11, 5.1.13. */
#include "check.h"

static const MPI_Count kGiB = (MPI_Count)1 << 30;

/* The plain queries say MPI_UNDEFINED where the large ones say the number. */
static void check_type(int line, MPI_Datatype type, MPI_Count size, MPI_Count extent, MPI_Count true_extent) {
  MPI_Count got, lb, got_extent;
  int small;
  CHECK_OK(MPI_Type_size_x(type, &got));
  if (got != size) check_failed(__FILE__, line, "size_x is %lld, not %lld", (long long)got, (long long)size);
  CHECK_OK(MPI_Type_get_extent_x(type, &lb, &got_extent));
  if (got_extent != extent) check_failed(__FILE__, line, "extent_x is %lld", (long long)got_extent);
  CHECK_OK(MPI_Type_get_true_extent_x(type, &lb, &got_extent));
  if (got_extent != true_extent) check_failed(__FILE__, line, "true_extent_x is %lld", (long long)got_extent);
  CHECK_OK(MPI_Type_size(type, &small));
  if (small != (size > INT32_MAX ? MPI_UNDEFINED : (int)size))
    check_failed(__FILE__, line, "size is %d", small);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Type_size_c(type, &got));
  CHECK(got == size);
  CHECK_OK(MPI_Type_get_extent_c(type, &lb, &got_extent));
  CHECK(got_extent == extent);
  CHECK_OK(MPI_Type_get_true_extent_c(type, &lb, &got_extent));
  CHECK(got_extent == true_extent);
#endif
}
#define CHECK_TYPE(...) check_type(__LINE__, __VA_ARGS__)

static void test_sizes(void) {
  MPI_Datatype gib, four, wide, holes, both;
  CHECK_OK(MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib));
  CHECK_TYPE(gib, kGiB, kGiB, kGiB);
  CHECK_OK(MPI_Type_contiguous(4, gib, &four));
  CHECK_TYPE(four, 4 * kGiB, 4 * kGiB, 4 * kGiB);
  CHECK_OK(MPI_Type_vector(3, 1, 1 << 20, four, &wide)); /* 3 blocks, 2^52 bytes apart */
  CHECK_TYPE(wide, 12 * kGiB, 2 * (kGiB << 22) + 4 * kGiB, 2 * (kGiB << 22) + 4 * kGiB);
  CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, (MPI_Aint)1 << 50}, MPI_INT, &holes));
  CHECK_TYPE(holes, 8, ((MPI_Count)1 << 50) + 4, ((MPI_Count)1 << 50) + 4);
  CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, (MPI_Aint)1 << 40},
                                  (MPI_Datatype[]){four, MPI_DOUBLE}, &both));
  CHECK_TYPE(both, 4 * kGiB + 16, ((MPI_Count)1 << 40) + 16, ((MPI_Count)1 << 40) + 16);
  MPI_Type_free(&gib), MPI_Type_free(&four), MPI_Type_free(&wide), MPI_Type_free(&holes),
      MPI_Type_free(&both);
}

/* A status may count more than an int: 3 GiB of bytes are MPI_UNDEFINED bytes, and 3 GiB-elements. */
static void test_counts(void) {
  MPI_Datatype gib, pair;
  MPI_Status status;
  int count;
  MPI_Count large;
  memset(&status, 0, sizeof status);
  CHECK_OK(MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib));
  CHECK_OK(MPI_Type_commit(&gib));
  CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, 3 * kGiB));
  CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Get_count(&status, gib, &count));
  CHECK_EQ(count, 3);
  CHECK_OK(MPI_Get_elements(&status, gib, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Get_elements_x(&status, gib, &large));
  CHECK_EQ(large, 3 * kGiB);
  CHECK_OK(MPI_Get_elements_x(&status, MPI_INT, &large));
  CHECK_EQ(large, 3 * kGiB / 4);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &large));
  CHECK_EQ(large, 3 * kGiB);
  CHECK_OK(MPI_Get_elements_c(&status, gib, &large));
  CHECK_EQ(large, 3 * kGiB);
  CHECK_OK(MPI_Status_set_elements_c(&status, MPI_DOUBLE, 5 * kGiB));
  CHECK_OK(MPI_Get_count_c(&status, MPI_DOUBLE, &large));
  CHECK_EQ(large, 5 * kGiB);
#endif
  /* Ends inside an element: 5 ints are two pairs and a half. */
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  CHECK_OK(MPI_Type_commit(&pair));
  CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 5));
  CHECK_OK(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Get_elements(&status, pair, &count));
  CHECK_EQ(count, 5);
  MPI_Type_free(&gib), MPI_Type_free(&pair);
}

static void test_pack_size(void) {
  MPI_Datatype gib;
  int size;
  CHECK_OK(MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib));
  CHECK_OK(MPI_Type_commit(&gib));
#ifdef MPI_ABI_VERSION
  MPI_Count large;
  CHECK_OK(MPI_Pack_size(3, gib, MPI_COMM_SELF, &size));
  CHECK_EQ(size, MPI_UNDEFINED);
  CHECK_OK(MPI_Pack_size_c(3, gib, MPI_COMM_SELF, &large));
  CHECK_EQ(large, 3 * kGiB);
  CHECK_OK(MPI_Pack_size_c(kGiB, gib, MPI_COMM_SELF, &large));
  CHECK_EQ(large, kGiB << 30);
  CHECK_OK(MPI_Pack_size_c(kGiB << 10, gib, MPI_COMM_SELF, &large)); /* 2^70 bytes */
  CHECK_EQ(large, MPI_UNDEFINED);
#else
  CHECK_OK(MPI_Pack_size(1, gib, MPI_COMM_SELF, &size));
#endif
  MPI_Type_free(&gib);
}

#ifdef MPI_ABI_VERSION
/* The large-count constructors, what they describe, and that the same type made either way is the same. */
static void test_constructors(void) {
  const MPI_Count n = 5 * kGiB;
  MPI_Datatype type, old;
  MPI_Count ni, na, nc, nd, counts[8];
  int combiner, small;
  CHECK_OK(MPI_Type_contiguous_c(n, MPI_INT, &type));
  CHECK_TYPE(type, 4 * n, 4 * n, 4 * n);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_CONTIGUOUS && ni == 0 && na == 0 && nc == 1 && nd == 1);
  CHECK_OK(MPI_Type_get_contents_c(type, 0, 0, 8, 1, NULL, NULL, counts, &old));
  CHECK(counts[0] == n && old == MPI_INT);
  CHECK_CLASS(MPI_Type_get_envelope(type, &small, &small, &small, &combiner), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_get_contents_c(type, 0, 0, 0, 1, NULL, NULL, counts, &old), MPI_ERR_ARG);
  CHECK_OK(MPI_Type_free(&type));

  CHECK_OK(MPI_Type_vector_c(n, 2, 3, MPI_INT, &type));
  CHECK_TYPE(type, 8 * n, 4 * (3 * n - 1), 4 * (3 * n - 1));
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_VECTOR && ni == 0 && na == 0 && nc == 3 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hvector_c(3, 1, n, MPI_INT, &type));
  CHECK_TYPE(type, 12, 2 * n + 4, 2 * n + 4);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_HVECTOR && ni == 0 && na == 0 && nc == 3 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_indexed_c(2, (MPI_Count[]){n, 1}, (MPI_Count[]){0, n + 1}, MPI_INT, &type));
  CHECK_TYPE(type, 4 * (n + 1), 4 * (n + 2), 4 * (n + 2));
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_INDEXED && ni == 0 && na == 0 && nc == 5 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hindexed_c(1, (MPI_Count[]){n}, (MPI_Count[]){8}, MPI_BYTE, &type));
  CHECK_TYPE(type, n, n, n);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_HINDEXED && ni == 0 && na == 0 && nc == 3 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_indexed_block_c(2, n, (MPI_Count[]){0, 2 * n}, MPI_BYTE, &type));
  CHECK_TYPE(type, 2 * n, 3 * n, 3 * n);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_INDEXED_BLOCK && ni == 0 && na == 0 && nc == 4 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hindexed_block_c(2, n, (MPI_Count[]){0, 2 * n}, MPI_BYTE, &type));
  CHECK_TYPE(type, 2 * n, 3 * n, 3 * n);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_struct_c(2, (MPI_Count[]){n, 1}, (MPI_Count[]){0, n},
                                    (MPI_Datatype[]){MPI_BYTE, MPI_INT}, &type));
  CHECK_TYPE(type, n + 4, n + 4, n + 4);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_STRUCT && ni == 0 && na == 0 && nc == 5 && nd == 2);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_resized_c(MPI_INT, -n, 2 * n, &type));
  CHECK_TYPE(type, 4, 2 * n, 4);
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_RESIZED && ni == 0 && na == 0 && nc == 2 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  /* Made by a plain constructor, decoded by the large one: integers and addresses. */
  CHECK_OK(MPI_Type_create_hvector(3, 1, 1 << 20, MPI_INT, &type));
  CHECK_OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  CHECK(combiner == MPI_COMBINER_HVECTOR && ni == 2 && na == 1 && nc == 0 && nd == 1);
  CHECK_OK(MPI_Type_free(&type));
  /* More than MPI_Count can hold. */
  CHECK_CLASS(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_contiguous_c(-1, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_vector_c(2, 1, (MPI_Count)1 << 62, MPI_INT, &type), MPI_ERR_ARG);
  /* Modulo 2^128 this has no data; all elements lie at one place. */
  MPI_Datatype stacked;
  CHECK_OK(MPI_Type_create_resized(MPI_C_DOUBLE_COMPLEX, 0, 0, &stacked));
  CHECK_CLASS(MPI_Type_vector_c((MPI_Count)1 << 62, (MPI_Count)1 << 62, 0, stacked, &type), MPI_ERR_COUNT);
  CHECK_OK(MPI_Type_free(&stacked));
  /* A block of a dimension that nearly fills MPI_Count: its blocks together are a little more. */
  const MPI_Count most = (((MPI_Count)1 << 62) - 1) * 2 + 1;
  CHECK_OK(MPI_Type_create_darray_c(4, 3, 1, (MPI_Count[]){most}, (int[]){MPI_DISTRIBUTE_BLOCK},
                                    (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){4}, MPI_ORDER_C, MPI_BYTE,
                                    &type));
  CHECK_OK(MPI_Type_size_c(type, &ni));
  CHECK_EQ(ni, most - 3 * ((MPI_Count)1 << 61));
  CHECK_OK(MPI_Type_free(&type));
}
#endif

/* Two ints at absolute addresses, one static and one on the stack: far apart, in either order. */
static void test_absolute(void) {
  int source[2] = {world_rank, world_rank + 1}, got[2] = {-1, -1};
  MPI_Datatype type;
  MPI_Aint first, second;
  static int here[2];
  here[0] = source[0];
  MPI_Get_address(&here[0], &first);
  MPI_Get_address(&source[1], &second);
  CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){first, second}, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 1, got, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK(got[0] == world_rank && got[1] == world_rank + 1);
  CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_sizes();
  test_counts();
  test_pack_size();
#ifdef MPI_ABI_VERSION
  test_constructors();
#endif
  test_absolute();
  return check_end();
}
