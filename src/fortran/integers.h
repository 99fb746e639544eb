/* Attributes that Fortran sets. MPI report, 19.3.7: they are integers, which C gets the addresses of; those that C sets are addresses, which
 * Fortran gets as integers. So what is handed to C is the address of a place for the integer; places are of this library alone, and told
 * from other addresses by where they lie. An integer of 8 bytes serves the deprecated functions, too, whose attributes are INTEGER: its first
 * four bytes are that (little endian). */
#ifndef TMPI_FORTRAN_INTEGERS_H
#define TMPI_FORTRAN_INTEGERS_H

#include "fortran/convert.h"

/* A new place with `value`. */
void* tmpi_integer_place(MPI_Aint value);

/* The place is not needed any more; nothing, if the address is none. */
void tmpi_integer_forget(void* attribute);

/* Whether Fortran has set this attribute. */
int tmpi_is_integer(const void* attribute);

/* An attribute as Fortran gets it. */
MPI_Aint tmpi_integer_of(const void* attribute);

#endif
