/* FFTW: the planner, its wisdom, the number of threads and the time limit are the library's globals. */
#include <complex.h>
#include <fftw3.h>

#include "steps.h"

/* The transform of one wave has one line: its largest deviation from that. */
static double transform_wave(int n, int wave, unsigned flags) {
  fftw_complex* in = fftw_alloc_complex((size_t)n);
  fftw_complex* out = fftw_alloc_complex((size_t)n);
  fftw_plan plan = fftw_plan_dft_1d(n, in, out, FFTW_FORWARD, flags);
  CHECK(plan != NULL);
  for (int i = 0; i < n; i++) in[i] = cexp(2 * M_PI * I * wave * i / n);
  fftw_execute(plan);
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, cabs(out[i] - (i == wave ? n : 0)));
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
  return worst;
}

static void check_wisdom(int n) {
  if (world_rank % 2 == 0) fftw_forget_wisdom();
  next_step();
  if (world_rank % 2 != 0) CHECK(transform_wave(n, 1, FFTW_MEASURE) < 1e-9);
  char* mine = fftw_export_wisdom_to_string();
  next_step();
  if (world_rank % 2 == 0) fftw_forget_wisdom();
  next_step();
  char* later = fftw_export_wisdom_to_string();
  CHECK_STRING(later, mine);
  free(mine);
  free(later);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK(fftw_init_threads() != 0);
  fftw_plan_with_nthreads(1 + world_rank % 3);
  double worst = 0;
  for (int round = 0; round < 12; round++) {
    next_step();
    CHECK_EQ(fftw_planner_nthreads(), 1 + world_rank % 3);
    for (int n = 12; n < 40; n += 3)
      worst = fmax(worst, transform_wave(n + world_rank % 5, (round + world_rank) % 12, FFTW_ESTIMATE));
  }
  worst = fmax(worst, transform_wave(1 << 12, world_rank, FFTW_ESTIMATE));
  CHECK(worst < 1e-8);
  check_wisdom(48 + world_rank % 7);

  /* What it prints by stdio arrives. */
  fftw_plan_with_nthreads(1);
  double* line = fftw_alloc_real(64);
  fftw_plan plan = fftw_plan_r2r_1d(64, line, line, FFTW_REDFT10, FFTW_ESTIMATE);
  fftw_print_plan(plan);
  printf("\n");
  fflush(stdout);
  fftw_destroy_plan(plan);
  fftw_free(line);
  next_step();
  fftw_cleanup_threads();
  return end_with(world_rank);
}
