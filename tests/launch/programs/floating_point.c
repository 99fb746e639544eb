/* Every rank says whether it has begun in the floating-point environment of a new process, and whether its thread has
 * begun in its own, and whether flags of its arithmetic (odd ranks: none; others: an overflow of long double) stay its own. Then it
 * leaves another one behind: rounding, flags, traps, flush-to-zero. */
#define _GNU_SOURCE
#include <fenv.h>
#include <float.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <xmmintrin.h>

static int begun;

static void* inherit(void* rounding) {
  *(int*)rounding = fegetround();
  return 0;
}

/* Before main, as the constructor of -ffast-math. */
__attribute__((constructor)) static void begin(void) {
  begun = fegetround() == FE_TONEAREST && fetestexcept(FE_ALL_EXCEPT) == 0 && fegetexcept() == 0 &&
          (_mm_getcsr() & 0xffc0) == 0x1f80;
}

static int has_own_flags(int rank) {
  const int own = rank % 2 == 0 ? FE_OVERFLOW : 0;
  volatile long double large = LDBL_MAX;
  int right = 1;
  feclearexcept(FE_ALL_EXCEPT);
  for (int round = 0; round < 3; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    right &= fetestexcept(FE_OVERFLOW) == (round == 0 ? 0 : own);
    if (own != 0 && round == 0) large *= 2;
  }
  return right;
}

int main(int argc, char** argv) {
  fesetround(FE_UPWARD);
  feraiseexcept(FE_OVERFLOW | FE_INEXACT);
  feenableexcept(FE_DIVBYZERO);
  _mm_setcsr(_mm_getcsr() | 0x8040);
  MPI_Init(&argc, &argv);
  int rank, rounding = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t thread;
  pthread_create(&thread, 0, inherit, &rounding);
  pthread_join(thread, 0);
  printf("rank %d: %s, %s, %s\n", rank, begun ? "new" : "used",
         rounding == FE_UPWARD ? "inherited" : "not inherited",
         has_own_flags(rank) ? "own flags" : "flags of others");
  MPI_Finalize();
  return 0;
}
