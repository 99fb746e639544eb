/* ATLAS: what it says about a wrong argument goes to the program's own cblas_xerbla, which stands before the library's. */
#include <cblas.h>

#include "steps.h"

static int wrong; /* arguments that this rank was told of */
void cblas_xerbla(int argument, char* routine, char* form, ...) {
  (void)form;
  CHECK(strstr(routine, "dgemm") != NULL);
  CHECK(argument > 0);
  wrong++;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  enum { N = 70 };
  static double a[N * N], b[N * N], c[N * N];
  double trace = 0;
  for (int i = 0; i < N * N; i++) {
    a[i] = i % 17 - world_rank;
    b[i] = i % (N + 1) == 0 ? 1 + world_rank : 0;
  }
  for (int round = 1; round <= 5; round++) {
    next_step();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, c, N);
    for (int i = 0; i < N * N; i++) CHECK_NEAR(c[i], (1 + world_rank) * a[i], 0);
    next_step();
    for (int i = 0; i <= world_rank % 3; i++)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, -1, N, N, 1, a, N, b, N, 0, c, N);
    CHECK_EQ(wrong, round * (1 + world_rank % 3));
  }
  for (int i = 0; i < N; i++) trace += c[i * (N + 1)];
  return end_with(trace);
}
