/* mpix.h: tmpi's extensions to MPI. Include it after or instead of mpi.h. */
#ifndef TMPI_MPIX_H
#define TMPI_MPIX_H

#include "mpi.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#if defined(__cplusplus)
extern "C" {
#endif

/* Lets the other ready ranks of this worker run before the calling one continues; returns at once if there is none.
 *
 * For loops that wait for something that is not an MPI call, such as a flag set by another rank's callback: a rank that computes keeps
 * its worker until it blocks in MPI. Also drives the progress of communication. It is a scheduling point: other ranks may run, thread-locals
 * and errno of the calling rank are kept. May be called at any time between MPI_Init and MPI_Finalize, and outside as a hint
 * without effect. Returns MPI_SUCCESS. */
int MPIX_Yield(void);
int PMPIX_Yield(void);

#if defined(__cplusplus)
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* TMPI_MPIX_H */
