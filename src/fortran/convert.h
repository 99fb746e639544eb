/* Arguments of Fortran procedures as C wants them; used by the generated bindings. */
#ifndef TMPI_FORTRAN_CONVERT_H
#define TMPI_FORTRAN_CONVERT_H

#include "fortran/handles.h"
#include "fortran/implemented.h" /* generated: TMPI_HAS_X for every function that libtmpi.so has */

/* The same sources make the procedures of MPI_ functions and, compiled with TMPI_FORTRAN_PROFILING, those of PMPI_ functions. A procedure
 * calls the C function of its own kind, so that a profiling library written in C sees the calls of Fortran programs. */
#ifdef TMPI_FORTRAN_PROFILING
#define F(name) pmpi_##name##_
#define C(name) PMPI_##name
#define F08(name) TMPI_ALIAS(pmpi_##name##_f08_, pmpi_##name##_)
#define F_ALIAS(other, name) TMPI_ALIAS(pmpi_##other##_, pmpi_##name##_)
#else
#define F(name) mpi_##name##_
#define C(name) MPI_##name
#define F08(name) TMPI_ALIAS(mpi_##name##_f08_, mpi_##name##_)
#define F_ALIAS(other, name) TMPI_ALIAS(mpi_##other##_, mpi_##name##_)
#endif
/* mpi_f08 passes what the other interfaces pass, but where there is a choice buffer. */
#define TMPI_ALIAS(other, name) extern __typeof__(name) other __attribute__((alias(#name)))

/* Does not return. */
void tmpi_fortran_no_memory(const char* what, size_t bytes) __attribute__((noreturn, cold));
void* tmpi_fortran_allocate(const char* what, size_t bytes);

/* HANDLES(type, array, count) ... HANDLES_END(array): room for `count` handles, on the stack if they are few. */
#define ON_STACK 64
#define HANDLES(type, array, length)                                                                  \
  const MPI_Count array##_wanted = (length), array##_count = array##_wanted > 0 ? array##_wanted : 0; \
  type array##_room[ON_STACK];                                                                        \
  type* const array = array##_count <= ON_STACK                                                       \
                          ? array##_room                                                              \
                          : (type*)tmpi_fortran_allocate("handles", (size_t)array##_count * sizeof(type))
#define HANDLES_END(array) \
  if (array != array##_room) free(array)

/* The datatypes of these integers, in an array that stays: for calls that go on reading it after they have returned. Equal arrays are kept
 * once, for the rank's life. */
const MPI_Datatype* tmpi_lasting_types(MPI_Count count, const MPI_Fint* numbers);

/* STRING(c, text, length, strip) ... STRING_END(c): a C string of what Fortran pads with blanks. */
#define STRING(c, text, length, strip) \
  char c##_room[512];                  \
  char* const c = tmpi_string_in(c##_room, sizeof c##_room, text, length, strip)
#define STRING_END(c) \
  if (c != c##_room) free(c)
/* `text` without the blanks at its end, and without those before it if `strip`: in `room`, or allocated if that is too small. */
char* tmpi_string_in(char* room, size_t size, const char* text, size_t length, int strip);

/* Fills `text` with a C string and blanks. */
void string_out(char* text, size_t length, const char* c);

/* How many ranks the other side of a collective operation has; how many neighbours one sends to, or receives from. 0 for what is no such
 * communicator: MPI will say so. */
int tmpi_peers(MPI_Comm comm);
int tmpi_neighbors(MPI_Comm comm, int outgoing);

#endif
