/* OpenBLAS: the number of threads is one setting of the library, which also starts threads of its own. */
#define _GNU_SOURCE
#include <cblas.h>
#include <sched.h>

#include "steps.h"

int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);

static double* new_matrix(int n) {
  double* matrix = calloc((size_t)n * (size_t)n, sizeof(double));
  CHECK(matrix != NULL);
  return matrix;
}

/* A product of an N x N matrix a with the identity times `factor`: the largest deviation. */
static double multiply(int n, double factor) {
  double *a = new_matrix(n), *b = new_matrix(n), *c = new_matrix(n), worst = 0;
  for (int i = 0; i < n * n; i++) {
    a[i] = i % 17 - world_rank;
    b[i] = i % (n + 1) == 0 ? factor : 0;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
  for (int i = 0; i < n * n; i++) worst = fmax(worst, fabs(c[i] - factor * a[i]));
  free(a);
  free(b);
  free(c);
  return worst;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const char* asked =
      getenv("OPENBLAS_NUM_THREADS"); /* by -x: as many, but not more than cores that the process may use */
  cpu_set_t cores;
  CHECK_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  if (asked != NULL)
    CHECK_EQ(openblas_get_num_threads(), atoi(asked) < CPU_COUNT(&cores) ? atoi(asked) : CPU_COUNT(&cores));
  next_step();
  openblas_set_num_threads(1 + world_rank % 2);
  for (int round = 0; round < 4; round++) {
    next_step();
    CHECK_EQ(openblas_get_num_threads(), 1 + world_rank % 2);
    for (int n = 5; n <= 80; n += 25) CHECK(multiply(n, 1 + world_rank) == 0);
    CHECK(multiply(200, 1 + world_rank) == 0);
  }
  return end_with(world_rank);
}
