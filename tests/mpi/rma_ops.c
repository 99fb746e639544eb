/* Every operator on every predefined type: accumulates do what MPI_Reduce_local does, on rows of elements, on elements
 * with holes between them, and with the old values handed back. And elements of many origins at once. */
#include "check.h"

enum { kElements = 37, kLargest = 64 };

static const MPI_Datatype kIntegers[] = {
    MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT,  MPI_UNSIGNED_SHORT, MPI_INT,     MPI_UNSIGNED,
    MPI_LONG,        MPI_UNSIGNED_LONG, MPI_INT8_T, MPI_UINT16_T,       MPI_INT32_T, MPI_UINT64_T,
    MPI_LONG_LONG,   MPI_AINT,          MPI_OFFSET, MPI_COUNT,          MPI_INTEGER};
static const MPI_Datatype kFloats[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE};
static const MPI_Datatype kComplexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                          MPI_C_LONG_DOUBLE_COMPLEX};
static const MPI_Datatype kPairs[] = {MPI_2INT,     MPI_FLOAT_INT, MPI_DOUBLE_INT,
                                      MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};

/* Small numbers of the type, which no operator makes inexact; the same for everybody. */
static void fill(MPI_Datatype type, MPI_Datatype class_of_type, char* buffer, int salt) {
  MPI_Aint lb, extent;
  int size;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_size(type, &size);
  memset(buffer, 0, kElements * (size_t)extent);
  for (int i = 0; i < kElements; i++) {
    char* element = buffer + i * extent;
    const int number = (salt + 3 * i) % 7 + 1;
    if (class_of_type == MPI_INT) {
      element[0] = (char)number;
    } else if (class_of_type == MPI_FLOAT || class_of_type == MPI_C_FLOAT_COMPLEX) {
      const int parts = class_of_type == MPI_FLOAT ? 1 : 2;
      for (int p = 0; p < parts; p++) {
        if (size / parts == 4) ((float*)element)[p] = (float)number;
        if (size / parts == 8) ((double*)element)[p] = number;
        if (size / parts == 16) ((long double*)element)[p] = number;
      }
    } else if (type == MPI_2INT) {
      ((int*)element)[0] = number, ((int*)element)[1] = salt;
    } else if (type == MPI_FLOAT_INT) {
      struct {
        float v;
        int i;
      }* p = (void*)element;
      p->v = (float)number, p->i = salt;
    } else if (type == MPI_DOUBLE_INT) {
      struct {
        double v;
        int i;
      }* p = (void*)element;
      p->v = number, p->i = salt;
    } else if (type == MPI_LONG_INT) {
      struct {
        long v;
        int i;
      }* p = (void*)element;
      p->v = number, p->i = salt;
    } else if (type == MPI_SHORT_INT) {
      struct {
        short v;
        int i;
      }* p = (void*)element;
      p->v = (short)number, p->i = salt;
    } else {
      struct {
        long double v;
        int i;
      }* p = (void*)element;
      p->v = number, p->i = salt;
    }
  }
}

static void* window_memory;
static MPI_Win win;

/* Packed, so that what lies between the data does not count. */
static void compare(const void* got, const void* want, MPI_Datatype type, int line) {
  char a[kElements * kLargest], b[kElements * kLargest];
  int at = 0, bt = 0;
  CHECK_OK(MPI_Pack(got, kElements, type, a, sizeof a, &at, MPI_COMM_SELF));
  CHECK_OK(MPI_Pack(want, kElements, type, b, sizeof b, &bt, MPI_COMM_SELF));
  /* A long double has ten bytes that mean something. */
  const int unit = type == MPI_LONG_DOUBLE_INT                                    ? 20
                   : type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX ? 16
                                                                                  : 0;
  for (int i = 0; unit > 0 && i < at; i += unit) memset(a + i + 10, 0, 6), memset(b + i + 10, 0, 6);
  if (at != bt || memcmp(a, b, (size_t)at) != 0) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(type, name, &length);
    check_failed(__FILE__, line, "wrong elements of %s", name);
  }
}

static void try_op(MPI_Datatype type, MPI_Datatype class_of_type, MPI_Op op, int spread) {
  char before[kElements * kLargest], origin[kElements * kLargest], expected[kElements * kLargest],
      result[kElements * kLargest], now[kElements * kLargest];
  const int right = (world_rank + 1) % world_size;
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  fill(type, class_of_type, before, 1);
  fill(type, class_of_type, origin, 2);
  fill(type, class_of_type, result, 5);
  memcpy(expected, before, sizeof expected);
  if (op == MPI_REPLACE)
    memcpy(expected, origin, sizeof expected);
  else if (op != MPI_NO_OP)
    CHECK_OK(MPI_Reduce_local(origin, expected, kElements, type, op));
  /* At the target the elements may have room for another one between them. */
  MPI_Datatype at_target = type;
  int items = kElements;
  if (spread) {
    CHECK_OK(MPI_Type_vector(kElements, 1, 2, type, &at_target));
    CHECK_OK(MPI_Type_commit(&at_target));
    items = 1;
  }
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
  CHECK_OK(MPI_Put(before, kElements, type, right, 0, items, at_target, win));
  CHECK_OK(MPI_Win_flush(right, win));
  if (spread) {
    CHECK_OK(MPI_Get_accumulate(origin, kElements, type, result, kElements, type, right, 0, items, at_target,
                                op, win));
  } else {
    CHECK_OK(MPI_Get_accumulate(origin, kElements - 1, type, result, kElements - 1, type, right, 0,
                                kElements - 1, type, op, win));
    CHECK_OK(MPI_Fetch_and_op(origin + (kElements - 1) * extent, result + (kElements - 1) * extent, type,
                              right, (kElements - 1) * extent, op, win));
  }
  CHECK_OK(MPI_Win_flush(right, win));
  compare(result, before, type, __LINE__);
  CHECK_OK(MPI_Get(now, kElements, type, right, 0, items, at_target, win));
  CHECK_OK(MPI_Win_flush(right, win));
  compare(now, expected, type, __LINE__);
  if (op != MPI_NO_OP) { /* without the old values */
    CHECK_OK(MPI_Put(before, kElements, type, right, 0, items, at_target, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK_OK(MPI_Accumulate(origin, kElements, type, right, 0, items, at_target, op, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK_OK(MPI_Get(now, kElements, type, right, 0, items, at_target, win));
  }
  CHECK_OK(MPI_Win_unlock(right, win));
  if (op != MPI_NO_OP) compare(now, expected, type, __LINE__);
  if (spread) CHECK_OK(MPI_Type_free(&at_target));
}

static void try_ops(const MPI_Datatype* types, size_t count, MPI_Datatype class_of_type, const MPI_Op* ops,
                    size_t op_count) {
  for (size_t t = 0; t < count; t++) {
    if (types[t] == MPI_DATATYPE_NULL) continue;
    for (size_t o = 0; o < op_count; o++) {
      try_op(types[t], class_of_type, ops[o], 0);
      try_op(types[t], class_of_type, ops[o], 1);
    }
  }
}
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TRY(types, class_of_type, ...)                            \
  do {                                                            \
    const MPI_Op ops[] = {__VA_ARGS__, MPI_REPLACE, MPI_NO_OP};   \
    try_ops(types, COUNT(types), class_of_type, ops, COUNT(ops)); \
  } while (0)

/* All at once on the same elements of rank 0; the sums come out right, whatever size and place they have. */
static void contended(void) {
  enum { kTimes = 50 };
  struct {
    long double d;
    char pad;
    int askew;
    double z[2];
  }* memory = window_memory;
  MPI_Barrier(MPI_COMM_WORLD);
  enum { kChars = 1027, kManyChars = 100, kInts = 2052, kManyInts = 33 }; /* places and lengths of rows */
  if (world_rank == 0) memset(window_memory, 0, kInts + kManyInts * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  const long double one = 1;
  const double complex_one[2] = {1, 2}, real_one = 1;
  const int int_one = 1;
  unsigned char char_ones[kManyChars];
  int int_ones[kManyInts], seen;
  memset(char_ones, 1, sizeof char_ones);
  for (int i = 0; i < kManyInts; i++) int_ones[i] = 1;
  CHECK_OK(MPI_Win_lock_all(0, win));
  for (int i = 0; i < kTimes; i++) {
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG_DOUBLE, 0, 0, 1, MPI_LONG_DOUBLE, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&int_one, 1, MPI_INT, 0, 65, 1, MPI_INT, MPI_SUM, win)); /* not aligned */
    CHECK_OK(
        MPI_Accumulate(complex_one, 1, MPI_C_DOUBLE_COMPLEX, 0, 128, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&real_one, 1, MPI_DOUBLE, 0, 160, 1, MPI_DOUBLE, MPI_SUM, win));
    /* Rows, and single elements of them. */
    CHECK_OK(MPI_Accumulate(char_ones, kManyChars, MPI_UNSIGNED_CHAR, 0, kChars, kManyChars,
                            MPI_UNSIGNED_CHAR, MPI_SUM, win));
    CHECK_OK(
        MPI_Accumulate(char_ones, 1, MPI_UNSIGNED_CHAR, 0, kChars + 50, 1, MPI_UNSIGNED_CHAR, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(int_ones, kManyInts, MPI_INT, 0, kInts, kManyInts, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Fetch_and_op(&int_one, &seen, MPI_INT, 0, kInts + 4 * 10, MPI_SUM, win));
    if (i % 8 == 0) CHECK_OK(MPI_Win_flush(0, win));
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  if (world_rank == 0) {
    int askew;
    double numbers[5];
    memcpy(&askew, (char*)window_memory + 65, sizeof askew);
    memcpy(numbers, (char*)window_memory + 128, sizeof numbers);
    CHECK_EQ(memory->d, kTimes * world_size);
    CHECK_EQ(askew, kTimes * world_size);
    CHECK_EQ(numbers[0], kTimes * world_size);
    CHECK_EQ(numbers[1], 2 * kTimes * world_size);
    CHECK_EQ(numbers[4], kTimes * world_size);
    const unsigned char* chars = (unsigned char*)window_memory + kChars;
    const int* ints = (int*)((char*)window_memory + kInts);
    for (int i = 0; i < kManyChars; i++)
      CHECK_EQ(chars[i], (unsigned char)((i == 50 ? 2 : 1) * kTimes * world_size));
    for (int i = 0; i < kManyInts; i++) CHECK_EQ(ints[i], (i == 10 ? 2 : 1) * kTimes * world_size);
  }
  CHECK_OK(MPI_Win_unlock(0, win));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(
      MPI_Win_allocate(2 * kElements * kLargest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &win));
  MPI_Barrier(MPI_COMM_WORLD);
  TRY(kIntegers, MPI_INT, MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR);
  const MPI_Datatype c_integers[] = {MPI_INT, MPI_SHORT, MPI_LONG_LONG, MPI_UNSIGNED_CHAR};
  TRY(c_integers, MPI_INT, MPI_LAND, MPI_LOR, MPI_LXOR);
  TRY(kFloats, MPI_FLOAT, MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX);
  TRY(kComplexes, MPI_C_FLOAT_COMPLEX, MPI_SUM, MPI_PROD);
  TRY(kPairs, MPI_2INT, MPI_MINLOC, MPI_MAXLOC);
  MPI_Barrier(MPI_COMM_WORLD);
  contended();
  CHECK_OK(MPI_Win_free(&win));
  return check_end();
}
