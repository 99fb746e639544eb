/* GSL: the error handler, and the generator and seed that it takes from the environment. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>

#include "steps.h"

static int errors; /* that this rank's handler was told of */
static void count_errors(const char* reason, const char* file, int line, int code) {
  (void)reason, (void)file, (void)line;
  CHECK_EQ(code, GSL_EDOM);
  errors++;
}
static void count_twice(const char* reason, const char* file, int line, int code) {
  count_errors(reason, file, line, code);
  errors++;
}

static double gaussian(double x, void* width) {
  return exp(-x * x / *(double*)width);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char seed[16];
  snprintf(seed, sizeof seed, "%d", 100 + world_rank);
  setenv("GSL_RNG_SEED", seed, 1);
  setenv("GSL_RNG_TYPE", world_rank % 2 ? "taus" : "mt19937", 1);
  CHECK(gsl_rng_env_setup() != NULL);

  gsl_error_handler_t* handlers[] = {count_errors, count_twice};
  if (world_rank % 3 == 2)
    gsl_set_error_handler_off();
  else
    gsl_set_error_handler(handlers[world_rank % 3]);
  for (int round = 1; round <= 5; round++) {
    next_step();
    gsl_sf_result result;
    CHECK_EQ(gsl_sf_lngamma_e(-1.0, &result), GSL_EDOM);
    CHECK_EQ(errors, world_rank % 3 == 2 ? 0 : round * (1 + world_rank % 3));
  }

  CHECK_EQ(gsl_rng_default_seed, 100 + world_rank);
  gsl_rng* generator = gsl_rng_alloc(gsl_rng_default);
  CHECK_STRING(gsl_rng_name(generator), world_rank % 2 ? "taus" : "mt19937");
  double sum = gsl_rng_uniform(generator);
  gsl_rng_free(generator);

  double width = 1 + world_rank, area, error;
  gsl_integration_workspace* workspace = gsl_integration_workspace_alloc(100);
  gsl_function function = {gaussian, &width};
  CHECK_EQ(gsl_integration_qagi(&function, 0, 1e-8, 100, workspace, &area, &error), GSL_SUCCESS);
  gsl_integration_workspace_free(workspace);
  CHECK_NEAR(area, sqrt(M_PI * width), 1e-7);
  return end_with(sum + area);
}
