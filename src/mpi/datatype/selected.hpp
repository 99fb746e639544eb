// Predefined datatypes that are chosen by a property: the Fortran kinds with a precision and range (MPI
// report, 19.1.9: unnamed predefined types), Fortran types of a class and size (19.1.9), value-index pairs
// (6.9.4). What is returned is shared by all ranks of the process and never freed. Thread-safe; no function
// suspends.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// The type of selected_real_kind(p, r), of complex numbers of that kind, of selected_int_kind(r), with the
/// kinds of gfortran on x86-64. p or r may be MPI_UNDEFINED. The same arguments give the same type.
/// MPI_ERR_ARG if no kind has the properties.
Err select_real(int p, int r, Datatype*& out);
Err select_complex(int p, int r, Datatype*& out);
Err select_integer(int r, Datatype*& out);

/// The Fortran type of class MPI_TYPECLASS_INTEGER, _REAL, _COMPLEX (or MPIX_TYPECLASS_LOGICAL) with `size`
/// bytes. MPI_ERR_ARG if there is none.
Err match_size(int typeclass, int size, Datatype*& out);

/// MPI_FLOAT_INT for MPI_FLOAT and MPI_INT, and so on; MPI_DATATYPE_NULL if there is no such pair.
MPI_Datatype value_index_pair(const Datatype& value, const Datatype& index) noexcept;

}  // namespace tmpi::mpi
