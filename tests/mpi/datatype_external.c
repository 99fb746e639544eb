/* external32: sizes and byte order of the named types, nested types, round trips; and the types that a
 * Fortran kind, a size or a pair selects. MPI report, 5.3, 15.5.2, 19.1.9, 6.9.4. */
#include "check.h"

#include <wchar.h>

static int external_size(MPI_Datatype type) {
  MPI_Aint size = -1;
  CHECK_OK(MPI_Pack_external_size("external32", 1, type, &size));
  return (int)size;
}

static void test_sizes(void) {
  const struct {
    MPI_Datatype type;
    int size;
  } table[] = {
      {MPI_PACKED, 1},
      {MPI_BYTE, 1},
      {MPI_CHAR, 1},
      {MPI_UNSIGNED_CHAR, 1},
      {MPI_SIGNED_CHAR, 1},
      {MPI_WCHAR, 2},
      {MPI_SHORT, 2},
      {MPI_UNSIGNED_SHORT, 2},
      {MPI_INT, 4},
      {MPI_UNSIGNED, 4},
      {MPI_LONG, 4},
      {MPI_UNSIGNED_LONG, 4},
      {MPI_LONG_LONG_INT, 8},
      {MPI_UNSIGNED_LONG_LONG, 8},
      {MPI_FLOAT, 4},
      {MPI_DOUBLE, 8},
      {MPI_LONG_DOUBLE, 16},
      {MPI_C_BOOL, 1},
      {MPI_INT8_T, 1},
      {MPI_INT16_T, 2},
      {MPI_INT32_T, 4},
      {MPI_INT64_T, 8},
      {MPI_UINT8_T, 1},
      {MPI_UINT16_T, 2},
      {MPI_UINT32_T, 4},
      {MPI_UINT64_T, 8},
      {MPI_AINT, 8},
      {MPI_COUNT, 8},
      {MPI_OFFSET, 8},
      {MPI_C_COMPLEX, 8},
      {MPI_C_FLOAT_COMPLEX, 8},
      {MPI_C_DOUBLE_COMPLEX, 16},
      {MPI_C_LONG_DOUBLE_COMPLEX, 32},
      {MPI_FLOAT_INT, 8},
      {MPI_DOUBLE_INT, 12},
      {MPI_LONG_INT, 8},
      {MPI_2INT, 8},
      {MPI_SHORT_INT, 6},
      {MPI_LONG_DOUBLE_INT, 20},
#ifdef MPI_ABI_VERSION
      {MPI_CHARACTER, 1},
      {MPI_LOGICAL, 4},
      {MPI_INTEGER, 4},
      {MPI_REAL, 4},
      {MPI_DOUBLE_PRECISION, 8},
      {MPI_COMPLEX, 8},
      {MPI_DOUBLE_COMPLEX, 16},
      {MPI_INTEGER1, 1},
      {MPI_INTEGER2, 2},
      {MPI_INTEGER4, 4},
      {MPI_INTEGER8, 8},
      {MPI_INTEGER16, 16},
      {MPI_REAL2, 2},
      {MPI_REAL4, 4},
      {MPI_REAL8, 8},
      {MPI_REAL16, 16},
      {MPI_COMPLEX4, 4},
      {MPI_COMPLEX8, 8},
      {MPI_COMPLEX16, 16},
      {MPI_COMPLEX32, 32},
      {MPI_CXX_BOOL, 1},
      {MPI_CXX_FLOAT_COMPLEX, 8},
      {MPI_CXX_DOUBLE_COMPLEX, 16},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, 32},
      {MPI_2REAL, 8},
      {MPI_2DOUBLE_PRECISION, 16},
      {MPI_2INTEGER, 8},
      {MPI_LOGICAL1, 1},
      {MPI_LOGICAL8, 8},
#endif
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (external_size(table[i].type) != table[i].size)
      check_failed(__FILE__, __LINE__, "row %zu: %d bytes, should be %d", i, external_size(table[i].type),
                   table[i].size);
  }
}

/* `count` elements become these bytes, and these bytes the elements. */
static void check_bytes(int line, const void* values, int count, MPI_Datatype type, size_t memory,
                        const unsigned char* want, size_t bytes) {
  unsigned char packed[256];
  char back[256];
  MPI_Aint position = 0;
  memset(packed, 0xee, sizeof packed);
  CHECK_OK(MPI_Pack_external("external32", values, count, type, packed, sizeof packed, &position));
  if ((size_t)position != bytes || memcmp(packed, want, bytes) != 0)
    check_failed(__FILE__, line, "external32 form is wrong (%ld bytes, should be %zu)", (long)position,
                 bytes);
  CHECK_EQ(packed[bytes], 0xee);
  memset(back, 0, sizeof back);
  position = 0;
  CHECK_OK(MPI_Unpack_external("external32", packed, (MPI_Aint)bytes, &position, back, count, type));
  CHECK_EQ(position, bytes);
  if (memcmp(back, values, memory) != 0) check_failed(__FILE__, line, "does not come back");
}
#define CHECK_BYTES(values, count, type, ...) CHECK_BYTES_OF(sizeof(values), values, count, type, __VA_ARGS__)
/* Only the first `memory` bytes have to come back: what follows is padding. */
#define CHECK_BYTES_OF(memory, values, count, type, ...)                                   \
  check_bytes(__LINE__, values, count, type, memory, (const unsigned char[]){__VA_ARGS__}, \
              sizeof((const unsigned char[]){__VA_ARGS__}))

static void test_bytes(void) {
  const int ints[2] = {1, -2};
  CHECK_BYTES(ints, 2, MPI_INT, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe);
  const short shorts[1] = {0x1234};
  CHECK_BYTES(shorts, 1, MPI_SHORT, 0x12, 0x34);
  const double doubles[1] = {-2.5};
  CHECK_BYTES(doubles, 1, MPI_DOUBLE, 0xc0, 0x04, 0, 0, 0, 0, 0, 0);
  const char text[3] = {'a', 'b', 'c'};
  CHECK_BYTES(text, 3, MPI_CHAR, 'a', 'b', 'c');
#ifdef MPI_ABI_VERSION /* where others do not follow the report's sizes */
  const long longs[2] = {-1, 0x12345678};
  CHECK_BYTES(longs, 2, MPI_LONG, 0xff, 0xff, 0xff, 0xff, 0x12, 0x34, 0x56, 0x78);
  const unsigned long unsigned_longs[1] = {0xfffffffeul};
  CHECK_BYTES(unsigned_longs, 1, MPI_UNSIGNED_LONG, 0xff, 0xff, 0xff, 0xfe);
  const wchar_t wide[2] = {L'A', 0x20ac};
  CHECK_BYTES(wide, 2, MPI_WCHAR, 0, 'A', 0x20, 0xac);
  long double quads[1];
  quads[0] = 1.5L;
  CHECK_BYTES_OF(10, quads, 1, MPI_LONG_DOUBLE, 0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const float complex_numbers[2] = {1.0f, -1.0f};
  CHECK_BYTES(complex_numbers, 1, MPI_C_FLOAT_COMPLEX, 0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0);
  struct {
    short value;
    int index;
  } pair[1];
  memset(pair, 0, sizeof pair);
  pair[0].value = 1, pair[0].index = 2;
  CHECK_BYTES(pair, 1, MPI_SHORT_INT, 0, 1, 0, 0, 0, 2);
#endif
}

/* A struct in a vector, more than a window of the conversion; the gaps stay as they are. */
static void test_nested(void) {
  typedef struct {
    char c;
    double d;
    int i[3];
  } Row;
  enum { kCount = 300 };
  MPI_Datatype inner, row, every_second;
  MPI_Type_create_struct(3, (int[]){1, 1, 3}, (MPI_Aint[]){0, 8, 16},
                         (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &inner);
  MPI_Type_create_resized(inner, 0, sizeof(Row), &row);
  MPI_Type_vector(kCount, 1, 2, row, &every_second);
  CHECK_OK(MPI_Type_commit(&every_second));
  Row *rows = check_malloc(sizeof(Row) * 2 * kCount), *back = check_malloc(sizeof(Row) * 2 * kCount);
  MPI_Aint size, position = 0;
  memset(rows, 0, sizeof(Row) * 2 * kCount);
  memset(back, 0x77, sizeof(Row) * 2 * kCount);
  for (int r = 0; r < 2 * kCount; r++) {
    rows[r].c = (char)r;
    rows[r].d = r * 0.5;
    for (int i = 0; i < 3; i++) rows[r].i[i] = r * 3 + i;
  }
  CHECK_OK(MPI_Pack_external_size("external32", 1, every_second, &size));
  CHECK_EQ(size, kCount * 21);
  unsigned char* packed = check_malloc((size_t)size);
  CHECK_OK(MPI_Pack_external("external32", rows, 1, every_second, packed, size, &position));
  CHECK_EQ(position, size);
  CHECK_EQ(packed[21 * 7], 14);             /* row 14 */
  CHECK_EQ(packed[21 * 7 + 9 + 3], 14 * 3); /* low byte of its first int */
  position = 0;
  CHECK_OK(MPI_Unpack_external("external32", packed, size, &position, back, 1, every_second));
  for (int r = 0; r < 2 * kCount; r++) {
    if (r % 2 == 1) {
      CHECK_EQ(back[r].i[0], 0x77777777);
      continue;
    }
    CHECK_EQ(back[r].c, (char)r);
    CHECK(back[r].d == r * 0.5);
    for (int i = 0; i < 3; i++) CHECK_EQ(back[r].i[i], r * 3 + i);
  }
  free(rows), free(back), free(packed);
  MPI_Type_free(&inner), MPI_Type_free(&row), MPI_Type_free(&every_second);
}

#ifdef MPI_ABI_VERSION
static void test_external_errors(void) {
  char packed[16];
  int value = 1;
  MPI_Aint position = 0, size;
  MPI_Count large;
  long too_large = 1L << 40;
  CHECK_CLASS(MPI_Pack_external("native", &value, 1, MPI_INT, packed, 16, &position),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_CLASS(MPI_Pack_external(NULL, &value, 1, MPI_INT, packed, 16, &position), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, packed, 3, &position), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Pack_external("external32", &value, -1, MPI_INT, packed, 16, &position), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Pack_external("external32", &value, 1, MPI_DATATYPE_NULL, packed, 16, &position),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Pack_external("external32", &too_large, 1, MPI_LONG, packed, 16, &position),
              MPI_ERR_CONVERSION);
  CHECK_CLASS(MPI_Unpack_external("external32", packed, 3, &position, &value, 1, MPI_INT), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Unpack_external("external32", packed, 16, NULL, &value, 1, MPI_INT), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_external_size("external32", 1, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_external_size("internal", 1, MPI_INT, &size), MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_OK(MPI_Pack_external_size("external32", 1 << 30, MPI_DOUBLE, &size));
  CHECK(size == (MPI_Aint)8 << 30);
  CHECK_OK(MPI_Pack_external_size_c("external32", (MPI_Count)1 << 40, MPI_LONG_DOUBLE, &large));
  CHECK(large == (MPI_Count)16 << 40);
  CHECK_EQ(position, 0);
}
#endif

static void check_f90(MPI_Datatype type, int combiner, int want_size, int p, int r) {
  int ni, na, nd, got, integers[2], size;
  MPI_Type_get_envelope(type, &ni, &na, &nd, &got);
  CHECK_EQ(got, combiner);
  CHECK(na == 0 && nd == 0);
  CHECK_OK(MPI_Type_get_contents(type, ni, 0, 0, integers, NULL, NULL));
  if (combiner == MPI_COMBINER_F90_INTEGER) {
    CHECK(ni == 1 && integers[0] == r);
  } else {
    CHECK(ni == 2 && integers[0] == p && integers[1] == r);
  }
  CHECK_OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, want_size);
}

static void test_selected(void) {
  MPI_Datatype type, again;
  double value = 1.5, sum = 0;
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &type));
  check_f90(type, MPI_COMBINER_F90_REAL, 8, 15, 300);
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &again));
  CHECK(type == again);
  CHECK_OK(
      MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, MPI_COMM_SELF)); /* needs no commit, and is a number */
  CHECK(sum == 1.5);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Type_create_f90_real(MPI_UNDEFINED, 30, &type));
  check_f90(type, MPI_COMBINER_F90_REAL, 4, MPI_UNDEFINED, 30);
  CHECK_OK(MPI_Type_create_f90_real(30, MPI_UNDEFINED, &type));
  check_f90(type, MPI_COMBINER_F90_REAL, 16, 30, MPI_UNDEFINED);
  CHECK_OK(MPI_Type_create_f90_complex(6, 37, &type));
  check_f90(type, MPI_COMBINER_F90_COMPLEX, 8, 6, 37);
  CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
  CHECK_EQ(external_size(type), 8);
  const int ranges[5] = {2, 4, 9, 18, 38};
  for (int i = 0; i < 5; i++) {
    CHECK_OK(MPI_Type_create_f90_integer(ranges[i], &type));
    check_f90(type, MPI_COMBINER_F90_INTEGER, 1 << i, 0, ranges[i]);
  }
  CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_real(34, 1, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_complex(1, 5000, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_integer(3, NULL), MPI_ERR_ARG);

  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
  CHECK(type == MPI_REAL8);
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &type));
  CHECK(type == MPI_INTEGER2);
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 32, &type));
  CHECK(type == MPI_COMPLEX32);
  CHECK_OK(MPI_Type_match_size(MPIX_TYPECLASS_LOGICAL, 4, &type));
  CHECK(type == MPI_LOGICAL4);
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_match_size(7, 4, &type), MPI_ERR_ARG);

  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
  CHECK(type == MPI_DOUBLE_INT);
  CHECK_OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &type));
  CHECK(type == MPI_2INT);
  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_DOUBLE, &type));
  CHECK(type == MPI_DATATYPE_NULL);
  CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &type), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#ifdef MPI_ABI_VERSION
  test_sizes();
  test_external_errors();
#endif
  test_bytes();
  test_nested();
  test_selected();
  return check_end();
}
