/* mpix.h for Fortran: what the modules do not bind to C's functions by themselves (tools/fortran_extensions.py). A counter is an integer of
 * the kind of addresses. */
#include <dlfcn.h>
#include <stdlib.h>

#include "fortran/convert.h"
#include "mpix.h"

#undef F
#undef C
#ifdef TMPI_FORTRAN_PROFILING
#define F(name) pmpix_##name##_
#define C(name) PMPIX_##name
#define C_NAME(name) "PMPIX_" #name
#else
#define F(name) mpix_##name##_
#define C(name) MPIX_##name
#define C_NAME(name) "MPIX_" #name
#endif

/* Looked up by name: a program that refers to MPIX_Rtime pays for its clocks from the start, and this library is part of all. */
double F(rtime)(void) {
  static double (*rtime)(void) = NULL;
  if (rtime == NULL) rtime = (double (*)(void))dlsym(RTLD_DEFAULT, C_NAME(Rtime));
  return rtime();
}
double F(ptime)(void) {
  return C(Ptime)();
}
void F(start_processor_timer)(void) {
  C(Start_processor_timer)();
}
void F(stop_processor_timer)(void) {
  C(Stop_processor_timer)();
}

void F(yield)(MPI_Fint* ierror) {
  finish(ierror, C(Yield)());
}

void F(get_worker)(MPI_Fint* worker, MPI_Fint* workers, MPI_Fint* ierror) {
  finish(ierror, C(Get_worker)(worker, workers));
}

void F(migrate)(MPI_Fint* worker, MPI_Fint* ierror) {
  finish(ierror, C(Migrate)(*worker));
}

void F(balance)(MPI_Fint* ierror) {
  finish(ierror, C(Balance)());
}

void F(pin)(MPI_Fint* flag, MPI_Fint* ierror) {
  finish(ierror, C(Pin)(*flag));
}

void F(checkpoint)(char* directory, MPI_Fint* ierror, size_t directory_length) {
  STRING(directory_c, directory, directory_length, 1);
  const int error = C(Checkpoint)(directory_c);
  STRING_END(directory_c);
  finish(ierror, error);
}

void F(restarted)(MPI_Fint* flag, MPI_Fint* ierror) {
  int flag_c = 0;
  const int error = C(Restarted)(&flag_c);
  *flag = flag_c;
  finish(ierror, error);
}

void F(counter_open)(char* name, MPI_Aint* counter, MPI_Fint* ierror, size_t name_length) {
  STRING(name_c, name, name_length, 1);
  MPIX_Counter counter_c = MPIX_COUNTER_NULL;
  const int error = C(Counter_open)(name_c, &counter_c);
  STRING_END(name_c);
  *counter = (MPI_Aint)counter_c;
  finish(ierror, error);
}

void F(rcounter)(MPI_Aint* counter, MPI_Count* value, MPI_Fint* ierror) {
  finish(ierror, C(Rcounter)((MPIX_Counter)*counter, value));
}

void F(pcounter)(MPI_Aint* counter, MPI_Count* value, MPI_Fint* ierror) {
  finish(ierror, C(Pcounter)((MPIX_Counter)*counter, value));
}

void F(counter_close)(MPI_Aint* counter, MPI_Fint* ierror) {
  MPIX_Counter counter_c = (MPIX_Counter)*counter;
  const int error = C(Counter_close)(&counter_c);
  *counter = (MPI_Aint)counter_c;
  finish(ierror, error);
}
