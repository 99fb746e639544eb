/* SuiteSparse: its allocator is a pair of function pointers in the library, SuiteSparse_config. UMFPACK and CHOLMOD solve
 * with the Laplacian of a line. */
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>

#include "steps.h"

static long allocated; /* blocks, by this rank */
static void* counted_malloc(size_t bytes) {
  allocated++;
  return malloc(bytes);
}
static void* counted_calloc(size_t count, size_t bytes) {
  allocated++;
  return calloc(count, bytes);
}
static void counted_free(void* block) {
  allocated -= block != NULL;
  free(block);
}

enum { N = 60 };

/* Compressed columns of the matrix with 2 + shift on the diagonal. */
static int fill(double shift, int* column, int* row, double* value) {
  int entries = 0;
  for (int j = 0; j < N; j++) {
    column[j] = entries;
    for (int i = j - 1; i <= j + 1; i++) {
      if (i < 0 || i >= N) continue;
      row[entries] = i;
      value[entries++] = i == j ? 2 + shift : -1;
    }
  }
  column[N] = entries;
  return entries;
}

static double residual(double shift, const double* x, const double* b) {
  double worst = 0;
  for (int i = 0; i < N; i++) {
    double sum = (2 + shift) * x[i] - (i > 0 ? x[i - 1] : 0) - (i < N - 1 ? x[i + 1] : 0);
    worst = fmax(worst, fabs(sum - b[i]));
  }
  return worst;
}

static double by_umfpack(double shift, const double* b) {
  int column[N + 1], row[3 * N];
  double value[3 * N], x[N];
  void *symbolic, *numeric;
  fill(shift, column, row, value);
  CHECK_EQ(umfpack_di_symbolic(N, N, column, row, value, &symbolic, NULL, NULL), UMFPACK_OK);
  next_step();
  CHECK_EQ(umfpack_di_numeric(column, row, value, symbolic, &numeric, NULL, NULL), UMFPACK_OK);
  next_step();
  CHECK_EQ(umfpack_di_solve(UMFPACK_A, column, row, value, x, b, numeric, NULL, NULL), UMFPACK_OK);
  CHECK(allocated > 0);
  umfpack_di_free_symbolic(&symbolic);
  umfpack_di_free_numeric(&numeric);
  CHECK(residual(shift, x, b) < 1e-12);
  return x[N / 2];
}

static double by_cholmod(double shift, double* b) {
  cholmod_common common;
  cholmod_start(&common);
  cholmod_sparse* matrix = cholmod_allocate_sparse(N, N, 3 * N, 1, 1, 1, CHOLMOD_REAL, &common);
  fill(shift, (int*)matrix->p, (int*)matrix->i, (double*)matrix->x);
  cholmod_dense right = {.nrow = N, .ncol = 1, .nzmax = N, .d = N, .x = b, .xtype = CHOLMOD_REAL};
  cholmod_factor* factor = cholmod_analyze(matrix, &common);
  next_step();
  CHECK(cholmod_factorize(matrix, factor, &common));
  cholmod_dense* solution = cholmod_solve(CHOLMOD_A, factor, &right, &common);
  CHECK(solution != NULL && residual(shift, (double*)solution->x, b) < 1e-12);
  double middle = ((double*)solution->x)[N / 2];
  cholmod_free_dense(&solution, &common);
  cholmod_free_factor(&factor, &common);
  cholmod_free_sparse(&matrix, &common);
  cholmod_finish(&common);
  return middle;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  SuiteSparse_config.malloc_func = counted_malloc;
  SuiteSparse_config.calloc_func = counted_calloc;
  SuiteSparse_config.free_func = counted_free;
  double b[N], middle = 0, shift = 0.25 * (1 + world_rank);
  for (int i = 0; i < N; i++) b[i] = 1 + i % (2 + world_rank);
  for (int round = 0; round < 5; round++) {
    next_step();
    middle = by_umfpack(shift, b);
    CHECK_EQ(allocated, 0);
    CHECK_NEAR(by_cholmod(shift, b), middle, 1e-10);
    CHECK_EQ(allocated, 0);
  }
  CHECK(SuiteSparse_config.malloc_func == counted_malloc);
  return end_with(middle);
}
