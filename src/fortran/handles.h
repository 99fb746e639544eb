/* Fortran's integers for handles, and its addresses that stand for constants. Everything here is on the path of every call: no lock, no
 * allocation.
 *
 * The library is part of each rank's image, so its variables are the rank's own. MPI report, 19.3.4 (handles), 2.5.4 (named constants). */
#ifndef TMPI_FORTRAN_HANDLES_H
#define TMPI_FORTRAN_HANDLES_H

#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define COLD static __attribute__((noinline, cold))
/* For functions that call MPI on their own account, not because the program does: reports leave such calls out (tmpi_bindings_at). */
#define OWN_CALLS __attribute__((noinline, section("tmpi_own_calls")))

/* The COMMON block that mpif.h and the modules declare: what a program passes for MPI_BOTTOM and its like is an address in here, and the
 * loader binds all of a rank's uses of it to one place. */
struct tmpi_fortran_constants {
  MPI_Fint bottom, in_place, buffer_automatic, unweighted, weights_empty, errcodes_ignore;
  MPI_Fint status_ignore[MPI_F_STATUS_SIZE], statuses_ignore[MPI_F_STATUS_SIZE];
  char argv_null, argvs_null;
};
extern struct tmpi_fortran_constants tmpi_fortran_;

/* True for addresses of constants only. */
static inline int is_constant(const void* address) {
  return (uintptr_t)address - (uintptr_t)&tmpi_fortran_ < sizeof tmpi_fortran_;
}

/* The C constant for a Fortran constant that is a buffer; an ordinary variable of the block stays what it is. */
void* tmpi_constant_buffer(void* address);
/* What MPI_Buffer_detach gives, as mpi_f08 knows it: C_LOC(MPI_BUFFER_AUTOMATIC) of an automatic buffer. */
void* tmpi_detached_buffer(void* address);
int* tmpi_constant_weights(int* address);

static inline void* choice(void* address) {
  return LIKELY(!is_constant(address)) ? address : tmpi_constant_buffer(address);
}
static inline int* weights_at(int* address) {
  return LIKELY(!is_constant(address)) ? address : tmpi_constant_weights(address);
}
/* A status, or an array of them: eight integers each in Fortran as in C. */
static inline MPI_Status* status_at(MPI_Fint* address) {
  return LIKELY(!is_constant(address)) ? (MPI_Status*)address : MPI_STATUS_IGNORE;
}

/* Handles below this are predefined: their own integers. */
#define PREDEFINED 4096

/* An integer, once given to a handle, belongs to it for good (src/mpi/base/interop.hpp), so what has been looked up once may be kept: by
 * integer, and by address with the integer in the low bits. Entries are written by any thread of the rank, whole. */
#define KEPT 4096
extern void* tmpi_kept_handles[KEPT];    /* by integer - PREDEFINED */
extern uint64_t tmpi_kept_numbers[KEPT]; /* by a hash of the address: address << 16 | integer - PREDEFINED */

MPI_Fint tmpi_look_up_number(void* handle);

/* The integer of any handle. */
static inline MPI_Fint tmpi_number(void* handle) {
  const uintptr_t address = (uintptr_t)handle;
  if (address < PREDEFINED) return (MPI_Fint)address;
  const uint64_t entry = __atomic_load_n(&tmpi_kept_numbers[(address >> 4) % KEPT], __ATOMIC_RELAXED);
  if (LIKELY(entry >> 16 == address)) return (MPI_Fint)(entry & 0xffff) + PREDEFINED;
  return tmpi_look_up_number(handle);
}

/* comm_from(integer) and its like: the handle; one that MPI refuses if there is none of this integer. */
#define HANDLE_KIND(name, Kind, Handle)                                                         \
  Handle tmpi_look_up_##name(MPI_Fint number);                                                  \
  static inline Handle name##_from(MPI_Fint number) {                                           \
    const uint32_t n = (uint32_t)number;                                                        \
    if (n < PREDEFINED) return (Handle)(uintptr_t)n;                                            \
    if (n - PREDEFINED < KEPT) {                                                                \
      void* const kept = __atomic_load_n(&tmpi_kept_handles[n - PREDEFINED], __ATOMIC_RELAXED); \
      if (LIKELY(kept != NULL)) return (Handle)kept;                                            \
    }                                                                                           \
    return tmpi_look_up_##name(number);                                                         \
  }
#include "fortran/handle_kinds.inc"
#undef HANDLE_KIND

/* What C takes for a handle that is none: a null handle would do, but of a request it means that there is nothing to wait for. */
#define NO_HANDLE (PREDEFINED - 1)

/* After a function that frees its handle: the handle is a null one, or has stayed what it was. */
static inline void emptied(MPI_Fint* number, void* handle) {
  if ((uintptr_t)handle < NO_HANDLE) *number = (MPI_Fint)(uintptr_t)handle;
}

/* Copies of array sections that wait for their requests (sections.c): how many wait, and how many have ever waited. A request's integer
 * is another's as soon as it is complete, perhaps in another thread, before the call that completes it has returned: so a call asks before
 * it begins which copies can be those of its requests. */
extern int tmpi_sections_waiting;
extern uint64_t tmpi_sections_begun;
static inline uint64_t sections_before(void) {
  if (LIKELY(__atomic_load_n(&tmpi_sections_waiting, __ATOMIC_RELAXED) == 0)) return 0;
  return __atomic_load_n(&tmpi_sections_begun, __ATOMIC_RELAXED);
}
/* The request is complete; `released`: and gone, else it is still to be waited for. */
void tmpi_sections_complete(MPI_Fint request, uint64_t before, int released);
int tmpi_section_waits(MPI_Fint request);
int tmpi_section_freed(void); /* raises that such a request is not to be freed; returns the error code */

/* After a function that completes a request: as emptied(). */
static inline void completed(MPI_Fint* number, void* handle, uint64_t sections) {
  if ((uintptr_t)handle >= NO_HANDLE) return;
  if (!LIKELY(sections == 0)) tmpi_sections_complete(*number, sections, 1);
  *number = (MPI_Fint)(uintptr_t)handle;
}
/* After a function that has found a request complete and left it. */
static inline void found_complete(MPI_Fint number, uint64_t sections) {
  if (!LIKELY(sections == 0)) tmpi_sections_complete(number, sections, 0);
}

/* ierror is optional in mpi_f08. */
static inline void finish(MPI_Fint* ierror, int error) {
  if (LIKELY(ierror != NULL)) *ierror = error;
}

#endif
