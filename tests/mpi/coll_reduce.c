/* Reductions: reduce, allreduce, scan, exscan, reduce_scatter, reduce_scatter_block: counts, roots, in place,
 * communicators; user-defined operators, also ones that do not commute; the same result on every rank and in
 * every run. MPI report, 6.9 to 6.12. */
#include "check.h"

static MPI_Comm comm;
static int rank, size;

static long value(int r, long i) {
  return (r + 1) * 1000L + i % 97;
}
static long sum_of(int first, int last, long i) { /* over ranks first..last-1 */
  long sum = 0;
  for (int r = first; r < last; r++) sum += value(r, i);
  return sum;
}

static long* longs(long count) {
  long* memory = check_malloc((size_t)count * sizeof(long) + sizeof(long));
  for (long i = 0; i < count; i++) memory[i] = -1;
  return memory;
}

static long* mine(long count) {
  long* memory = longs(count);
  for (long i = 0; i < count; i++) memory[i] = value(rank, i);
  return memory;
}

static void test_reduce(int count, int root) {
  long *in = mine(count), *out = longs(count);
  CHECK_OK(MPI_Reduce(in, rank == root ? out : NULL, count, MPI_LONG, MPI_SUM, root, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(in[i], value(rank, i));
  for (long i = 0; rank == root && i < count; i++) CHECK_EQ(out[i], sum_of(0, size, i));
  CHECK_OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? in : NULL, count, MPI_LONG, MPI_SUM,
                      root, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(in[i], rank == root ? sum_of(0, size, i) : value(rank, i));
  free(in);
  free(out);
}

static void test_allreduce(int count) {
  long *in = mine(count), *out = longs(count);
  CHECK_OK(MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(out[i], sum_of(0, size, i));
  CHECK_OK(MPI_Allreduce(in, out, count, MPI_LONG, MPI_MAX, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(out[i], value(size - 1, i));
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(in[i], sum_of(0, size, i));
  free(in);
  free(out);
}

static void test_scans(int count) {
  long *in = mine(count), *out = longs(count);
  CHECK_OK(MPI_Scan(in, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(out[i], sum_of(0, rank + 1, i));
  for (long i = 0; i < count; i++) out[i] = -1;
  CHECK_OK(MPI_Exscan(in, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; rank > 0 && i < count; i++) CHECK_EQ(out[i], sum_of(0, rank, i));
  memcpy(out, in, (size_t)count * sizeof(long));
  CHECK_OK(MPI_Scan(MPI_IN_PLACE, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(out[i], sum_of(0, rank + 1, i));
  memcpy(out, in, (size_t)count * sizeof(long));
  CHECK_OK(MPI_Exscan(MPI_IN_PLACE, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; rank > 0 && i < count; i++) CHECK_EQ(out[i], sum_of(0, rank, i));
  free(in);
  free(out);
}

static void test_reduce_scatter_block(int count) {
  long total = (long)count * size, *in = mine(total), *out = longs(count);
  CHECK_OK(MPI_Reduce_scatter_block(in, out, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(out[i], sum_of(0, size, (long)rank * count + i));
  CHECK_OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, count, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < count; i++) CHECK_EQ(in[i], sum_of(0, size, (long)rank * count + i));
  free(in);
  free(out);
}

static void test_reduce_scatter(int count) {
  int* counts = check_malloc((size_t)size * sizeof(int));
  long total = 0, first = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = (r * 3 + count) % 4 * (count > 10 ? count / 4 : 1);
    if (r < rank) first += counts[r];
    total += counts[r];
  }
  long *in = mine(total), *out = longs(counts[rank]);
  CHECK_OK(MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < counts[rank]; i++) CHECK_EQ(out[i], sum_of(0, size, first + i));
  CHECK_OK(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_LONG, MPI_SUM, comm));
  for (long i = 0; i < counts[rank]; i++) CHECK_EQ(in[i], sum_of(0, size, first + i));
  free(counts);
  free(in);
  free(out);
}

/* Composition of x -> a x + b (modulo a prime): associative, but it does not commute. */
struct affine {
  int64_t a, b;
};
enum { kPrime = 1000003 };

static struct affine compose(struct affine f, struct affine g) { /* first f, then g */
  return (struct affine){f.a * g.a % kPrime, (f.b * g.a + g.b) % kPrime};
}

static int calls, wrong_type;
static MPI_Datatype affine_type;

static void compose_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  struct affine *f = in, *g = inout;
  calls++;
  wrong_type |= *type != affine_type;
  for (int i = 0; i < *count; i++) g[i] = compose(f[i], g[i]); /* inout = in op inout */
}

static struct affine element(int r, int i) {
  return (struct affine){(r * 31 + i * 7) % 1000 + 2, (r * 17 + i) % 5000 + 1};
}
static struct affine composed(int first, int last, int i) {
  struct affine f = element(first, i);
  for (int r = first + 1; r < last; r++) f = compose(f, element(r, i));
  return f;
}
#define CHECK_AFFINE(got, want)          \
  do {                                   \
    struct affine check_affine = (want); \
    CHECK_EQ((got).a, check_affine.a);   \
    CHECK_EQ((got).b, check_affine.b);   \
  } while (0)

static void test_noncommutative(int count) {
  struct affine *in = check_malloc((size_t)count * sizeof *in),
                *out = check_malloc((size_t)count * sizeof *out);
  struct affine* wide = check_malloc((size_t)count * (size_t)size * sizeof *wide);
  MPI_Op op;
  CHECK_OK(MPI_Op_create(compose_op, 0, &op));
  for (int i = 0; i < count; i++) in[i] = element(rank, i);
  for (int i = 0; i < count * size; i++) wide[i] = element(rank, i);
  for (int root = 0; root<size; root += size> 6 ? size / 3 : 1) {
    CHECK_OK(MPI_Reduce(in, out, count, affine_type, op, root, comm));
    for (int i = 0; rank == root && i < count; i++) CHECK_AFFINE(out[i], composed(0, size, i));
  }
  CHECK_OK(MPI_Allreduce(in, out, count, affine_type, op, comm));
  for (int i = 0; i < count; i++) CHECK_AFFINE(out[i], composed(0, size, i));
  CHECK_OK(MPI_Scan(in, out, count, affine_type, op, comm));
  for (int i = 0; i < count; i++) CHECK_AFFINE(out[i], composed(0, rank + 1, i));
  CHECK_OK(MPI_Exscan(in, out, count, affine_type, op, comm));
  for (int i = 0; rank > 0 && i < count; i++) CHECK_AFFINE(out[i], composed(0, rank, i));
  CHECK_OK(MPI_Reduce_scatter_block(wide, out, count, affine_type, op, comm));
  for (int i = 0; i < count; i++) CHECK_AFFINE(out[i], composed(0, size, rank * count + i));
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, in, count, affine_type, op, comm));
  for (int i = 0; i < count; i++) CHECK_AFFINE(in[i], composed(0, size, i));
  CHECK_OK(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
  CHECK(!wrong_type);
  free(in);
  free(out);
  free(wide);
}

/* A commutative operator of the program's own, on a predefined type, freed while others still use theirs. */
static void gcd_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) {
    int a = ((int*)in)[i], b = ((int*)inout)[i];
    while (b != 0) {
      int rest = a % b;
      a = b;
      b = rest;
    }
    ((int*)inout)[i] = a;
  }
}

static void test_commutative(void) {
  int in[3] = {12 * (rank + 1), 35 * (rank + 2), 64}, out[3] = {0, 0, 0};
  MPI_Op op;
  CHECK_OK(MPI_Op_create(gcd_op, 1, &op));
  CHECK_OK(MPI_Allreduce(in, out, 3, MPI_INT, op, comm));
  CHECK_OK(MPI_Op_free(&op));
  CHECK_EQ(out[0], 12);
  CHECK_EQ(out[1], size == 1 ? 70 : 35);
  CHECK_EQ(out[2], 64);
}

/* Floating-point sums are the same on all ranks, and the same again. */
static void test_reproducible(void) {
  enum { kCount = 257 };
  double in[kCount], out[kCount], again[kCount], low[kCount], high[kCount];
  for (int i = 0; i < kCount; i++) in[i] = 1.0 / (1 + rank * 3 + i) * (i % 2 ? 1e10 : 1e-5);
  CHECK_OK(MPI_Allreduce(in, out, kCount, MPI_DOUBLE, MPI_SUM, comm));
  CHECK_OK(MPI_Allreduce(out, low, kCount, MPI_DOUBLE, MPI_MIN, comm));
  CHECK_OK(MPI_Allreduce(out, high, kCount, MPI_DOUBLE, MPI_MAX, comm));
  CHECK(memcmp(low, high, sizeof low) == 0);
  for (int round = 0; round < 5; round++) {
    CHECK_OK(MPI_Allreduce(in, again, kCount, MPI_DOUBLE, MPI_SUM, comm));
#ifdef MPI_ABI_VERSION
    CHECK(memcmp(out, again, sizeof out) == 0);
#endif
  }
}

static void test_all(void) {
  static const int counts[] = {0, 1, 2, 5, 100, 3000};
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  for (int c = 0; c < 6; c++) {
    int count = size > 64 && counts[c] > 100 ? 100 : counts[c];
    for (int root = 0; root<size; root += size> 8 ? size / 4 : 1) test_reduce(count, root);
    test_allreduce(count);
    test_scans(count);
    test_reduce_scatter_block(count > 100 ? 100 : count);
    test_reduce_scatter(count);
  }
  test_noncommutative(1);
  test_noncommutative(50);
  test_commutative();
  test_reproducible();
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT64_T, &affine_type));
  CHECK_OK(MPI_Type_commit(&affine_type));
  comm = MPI_COMM_WORLD;
  test_all();
  comm = MPI_COMM_SELF;
  test_all();
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm));
  test_all();
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm));
  test_all();
  CHECK_OK(MPI_Comm_free(&comm));
  int all_calls = 0; /* which rank combines is up to the library */
  CHECK_OK(MPI_Allreduce(&calls, &all_calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(all_calls > 0 || world_size == 1);
  CHECK_OK(MPI_Type_free(&affine_type));
  return check_end();
}
