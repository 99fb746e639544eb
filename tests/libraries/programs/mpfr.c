/* MPFR: precision, rounding, exponents, flags and the cache of constants are variables of a thread; GMP's allocator of a process. */
#include <gmp.h>
#include <mpfr.h>

#include "steps.h"

static long blocks; /* that GMP and MPFR hold in this rank */
static void* counted_allocate(size_t bytes) {
  blocks++;
  return check_malloc(bytes);
}
static void* counted_reallocate(void* block, size_t old_bytes, size_t bytes) {
  (void)old_bytes;
  return realloc(block, bytes);
}
static void counted_free(void* block, size_t bytes) {
  (void)bytes;
  blocks--;
  free(block);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  mp_set_memory_functions(counted_allocate, counted_reallocate, counted_free);
  const int precision = 60 + 40 * (world_rank % 5);
  const mpfr_rnd_t rounding = world_rank % 2 ? MPFR_RNDD : MPFR_RNDU;
  mpfr_set_default_prec(precision);
  mpfr_set_default_rounding_mode(rounding);
  CHECK_EQ(mpfr_set_emax(1000 + world_rank), 0);
  double found = 0;
  for (int round = 0; round < 6; round++) {
    next_step();
    CHECK_EQ(mpfr_get_default_prec(), precision);
    CHECK_EQ(mpfr_get_default_rounding_mode(), rounding);
    CHECK_EQ(mpfr_get_emax(), 1000 + world_rank);
    mpfr_clear_flags();
    mpfr_t pi, x;
    mpfr_inits(pi, x, (mpfr_ptr)0);
    mpfr_const_pi(pi, mpfr_get_default_rounding_mode());
    if (world_rank % 3 == 0) mpfr_set_ui(x, 0, MPFR_RNDN), mpfr_ui_div(x, 1, x, MPFR_RNDN);
    next_step();
    CHECK_EQ(mpfr_divby0_p() != 0, world_rank % 3 == 0);
    CHECK_EQ(mpfr_get_prec(pi), precision);
    mpfr_sin(x, pi, MPFR_RNDN);
    CHECK(fabs(mpfr_get_d(x, MPFR_RNDN)) < ldexp(1, 3 - precision));
    found = mpfr_get_d(pi, MPFR_RNDN);
    CHECK_NEAR(found, M_PI, 0);
    mpfr_clears(pi, x, (mpfr_ptr)0);
    if (world_rank % 2) mpfr_free_cache();
    if (world_rank % 2) CHECK_EQ(blocks, 0);
  }
  next_step();
  mpfr_free_cache();
  CHECK_EQ(blocks, 0);
  return end_with(found);
}
