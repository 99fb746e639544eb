/* The procedures of mpi_f08 whose buffers come as descriptors (tools/generate_fortran.py). */
#include "fortran/sections.h"

#include "fortran/sections.inc"

/* The bytes of an element of a variable of any type. */
void F(sizeof_f08ts)(const Descriptor* x, MPI_Fint* size, MPI_Fint* ierror) {
  *size = (MPI_Fint)x->elem_len;
  finish(ierror, MPI_SUCCESS);
}

/* Nothing: the call itself keeps the compiler from holding the buffer in registers. */
void F(f_sync_reg_f08ts)(const Descriptor* buf) {
  (void)buf;
}
