/* Every predefined operator on every type that the standard allows for it, by MPI_Allreduce, MPI_Reduce and
 * MPI_Scan; and an error where it does not. MPI report, 6.9.2 and 6.9.4. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "check.h"

/* Two or three small values of the ranks, so that products stay exact even in one byte. */
static int small(int rank, int i) {
  return (rank + i) % 3 == 0 ? 2 : 1;
}

enum { kCount = 11 };

/* One type and one operator: `mine` gives a rank's element, `fold` combines two. */
#define TEST_OP(ctype, mpitype, op, mine, fold)                                                      \
  do {                                                                                               \
    ctype in[kCount], out[kCount], scan[kCount];                                                     \
    memset(in, 0, sizeof in);                                                                        \
    memset(out, 0, sizeof out);                                                                      \
    memset(scan, 0, sizeof scan);                                                                    \
    for (int i = 0; i < kCount; i++) {                                                               \
      int r = world_rank;                                                                            \
      in[i] = (ctype)(mine);                                                                         \
    }                                                                                                \
    CHECK_OK(MPI_Allreduce(in, out, kCount, mpitype, op, MPI_COMM_WORLD));                           \
    CHECK_OK(MPI_Scan(in, scan, kCount, mpitype, op, MPI_COMM_WORLD));                               \
    for (int i = 0; i < kCount; i++) {                                                               \
      ctype want = 0, partial = 0;                                                                   \
      for (int r = 0; r < world_size; r++) {                                                         \
        ctype x = (ctype)(mine), y = want;                                                           \
        want = r == 0 ? x : (ctype)(fold);                                                           \
        if (r == world_rank) partial = want;                                                         \
      }                                                                                              \
      if (!(out[i] == want))                                                                         \
        check_failed(__FILE__, __LINE__, "%s of %s: element %d is wrong", #op, #mpitype, i);         \
      if (!(scan[i] == partial))                                                                     \
        check_failed(__FILE__, __LINE__, "scan of %s of %s: element %d is wrong", #op, #mpitype, i); \
    }                                                                                                \
  } while (0)

#define FACTOR (r < 5 ? small(r, i) : 1)

#define TEST_ARITHMETIC(ctype, mpitype)                                        \
  do {                                                                         \
    TEST_OP(ctype, mpitype, MPI_SUM, (r + i) % 3, x + y);                      \
    TEST_OP(ctype, mpitype, MPI_PROD, FACTOR, x* y);                           \
    TEST_OP(ctype, mpitype, MPI_MAX, (r * 7 + i * 5) % 50, x > y ? x : y);     \
    TEST_OP(ctype, mpitype, MPI_MIN, (r * 7 + i * 5) % 50 + 3, x < y ? x : y); \
    TEST_OP(ctype, mpitype, MPI_BAND, 127 - (1 << (r + i) % 7), x & y);        \
    TEST_OP(ctype, mpitype, MPI_BOR, 1 << (r + i) % 7, x | y);                 \
    TEST_OP(ctype, mpitype, MPI_BXOR, (r * 37 + i) & 0x7f, x ^ y);             \
  } while (0)

#define TEST_INTEGER(ctype, mpitype)                             \
  do {                                                           \
    TEST_ARITHMETIC(ctype, mpitype);                             \
    TEST_OP(ctype, mpitype, MPI_LAND, (r + i) % 4, x && y);      \
    TEST_OP(ctype, mpitype, MPI_LOR, i % 2 ? 0 : r % 3, x || y); \
    TEST_OP(ctype, mpitype, MPI_LXOR, (r + i) % 3, !x != !y);    \
  } while (0)

#define TEST_SIGNED(ctype, mpitype)                                           \
  do {                                                                        \
    TEST_INTEGER(ctype, mpitype);                                             \
    TEST_OP(ctype, mpitype, MPI_MAX, -((r * 7 + i) % 50) - 1, x > y ? x : y); \
    TEST_OP(ctype, mpitype, MPI_MIN, i - (r * 7) % 50, x < y ? x : y);        \
  } while (0)

#define TEST_FLOATING(ctype, mpitype)                                                   \
  do {                                                                                  \
    TEST_OP(ctype, mpitype, MPI_SUM, ((r + i) % 3) * 0.5, x + y);                       \
    TEST_OP(ctype, mpitype, MPI_PROD, FACTOR, x* y);                                    \
    TEST_OP(ctype, mpitype, MPI_MAX, 0.25 * ((r * 7 + i * 5) % 50) - 6, x > y ? x : y); \
    TEST_OP(ctype, mpitype, MPI_MIN, 0.25 * ((r * 7 + i * 5) % 50) - 6, x < y ? x : y); \
  } while (0)

#define TEST_COMPLEX(ctype, mpitype)                                              \
  do {                                                                            \
    TEST_OP(ctype, mpitype, MPI_SUM, (r + i) % 3 + ((r * 2 + i) % 5) * I, x + y); \
    TEST_OP(ctype, mpitype, MPI_PROD, r < 5 ? 1 + ((r + i) % 2) * I : 1, x * y);  \
  } while (0)

static void test_integers(void) {
  TEST_SIGNED(signed char, MPI_SIGNED_CHAR);
  TEST_INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
  TEST_SIGNED(short, MPI_SHORT);
  TEST_INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
  TEST_SIGNED(int, MPI_INT);
  TEST_INTEGER(unsigned, MPI_UNSIGNED);
  TEST_SIGNED(long, MPI_LONG);
  TEST_INTEGER(unsigned long, MPI_UNSIGNED_LONG);
  TEST_SIGNED(long long, MPI_LONG_LONG);
  TEST_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
}

static void test_sized(void) {
  TEST_SIGNED(int8_t, MPI_INT8_T);
  TEST_SIGNED(int16_t, MPI_INT16_T);
  TEST_SIGNED(int32_t, MPI_INT32_T);
  TEST_SIGNED(int64_t, MPI_INT64_T);
  TEST_INTEGER(uint8_t, MPI_UINT8_T);
  TEST_INTEGER(uint16_t, MPI_UINT16_T);
  TEST_INTEGER(uint32_t, MPI_UINT32_T);
  TEST_INTEGER(uint64_t, MPI_UINT64_T);
  TEST_ARITHMETIC(MPI_Aint, MPI_AINT); /* the report has no logical operators on these */
#ifndef OPEN_MPI                       /* its minimum of MPI_OFFSET is wrong */
  TEST_ARITHMETIC(MPI_Offset, MPI_OFFSET);
#endif
  TEST_ARITHMETIC(MPI_Count, MPI_COUNT);
}

static void test_others(void) {
  TEST_FLOATING(float, MPI_FLOAT);
  TEST_FLOATING(double, MPI_DOUBLE);
  TEST_FLOATING(long double, MPI_LONG_DOUBLE);
  TEST_COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
  TEST_COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
  TEST_COMPLEX(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
  TEST_OP(bool, MPI_C_BOOL, MPI_LAND, (r + i) % 4 != 0, x && y);
  TEST_OP(bool, MPI_C_BOOL, MPI_LOR, (r + i) % 4 == 0, x || y);
  TEST_OP(bool, MPI_C_BOOL, MPI_LXOR, (r + i) % 3 == 0, x != y);
  TEST_OP(unsigned char, MPI_BYTE, MPI_BAND, 127 - (1 << (r + i) % 7), x & y);
  TEST_OP(unsigned char, MPI_BYTE, MPI_BOR, 1 << (r + i) % 8, x | y);
  TEST_OP(unsigned char, MPI_BYTE, MPI_BXOR, r * 37 + i, x ^ y);
#ifdef MPI_ABI_VERSION /* accepted beyond the report */
  TEST_OP(MPI_Aint, MPI_AINT, MPI_LAND, (r + i) % 4, x && y);
  TEST_OP(MPI_Offset, MPI_OFFSET, MPI_LOR, i % 2 ? 0 : r % 3, x || y);
  TEST_OP(MPI_Count, MPI_COUNT, MPI_LXOR, (r + i) % 3, !x != !y);
  TEST_OP(double, MPI_DOUBLE, MPI_LXOR, (r + i) % 3 * 0.25, (x == 0) != (y == 0));
  TEST_OP(float, MPI_FLOAT, MPI_LXOR, (r + i) % 2 - 1, (x == 0) != (y == 0));
#endif
}

/* MINLOC and MAXLOC: the value and where; of equal values the lowest index. */
#define TEST_LOC(ctype, mpitype)                                                                 \
  do {                                                                                           \
    struct pair {                                                                                \
      ctype value;                                                                               \
      int index;                                                                                 \
    } in[kCount], low[kCount], high[kCount];                                                     \
    memset(in, 0, sizeof in);                                                                    \
    for (int i = 0; i < kCount; i++)                                                             \
      in[i].value = (ctype)((world_rank * 3 + i) % 4 - 1), in[i].index = world_rank + 100;       \
    CHECK_OK(MPI_Allreduce(in, low, kCount, mpitype, MPI_MINLOC, MPI_COMM_WORLD));               \
    CHECK_OK(MPI_Reduce(in, high, kCount, mpitype, MPI_MAXLOC, world_size - 1, MPI_COMM_WORLD)); \
    for (int i = 0; i < kCount; i++) {                                                           \
      int best = 0, worst = 0;                                                                   \
      for (int r = 1; r < world_size; r++) {                                                     \
        if ((r * 3 + i) % 4 < (best * 3 + i) % 4) best = r;                                      \
        if ((r * 3 + i) % 4 > (worst * 3 + i) % 4) worst = r;                                    \
      }                                                                                          \
      CHECK(low[i].value == (ctype)((best * 3 + i) % 4 - 1));                                    \
      CHECK_EQ(low[i].index, best + 100);                                                        \
      if (world_rank == world_size - 1) {                                                        \
        CHECK(high[i].value == (ctype)((worst * 3 + i) % 4 - 1));                                \
        CHECK_EQ(high[i].index, worst + 100);                                                    \
      }                                                                                          \
    }                                                                                            \
  } while (0)

static void test_locations(void) {
  TEST_LOC(float, MPI_FLOAT_INT);
  TEST_LOC(double, MPI_DOUBLE_INT);
  TEST_LOC(long, MPI_LONG_INT);
  TEST_LOC(int, MPI_2INT);
  TEST_LOC(short, MPI_SHORT_INT);
  TEST_LOC(long double, MPI_LONG_DOUBLE_INT);
}

static void test_refused(void) {
  long double in[8] = {0}, out[8];
  MPI_Datatype derived;
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &derived));
  CHECK_OK(MPI_Type_commit(&derived));
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_BXOR, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, derived, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF), MPI_ERR_OP);
#ifdef MPI_ABI_VERSION /* the standard leaves it out of the list; other libraries take it */
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
#endif
  CHECK_OK(MPI_Type_free(&derived));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_integers();
  test_sized();
  test_others();
  test_locations();
  test_refused();
  return check_end();
}
