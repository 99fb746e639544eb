// The type constructors of the MPI report, 5.1.2 and 5.1.7: argument checks, description, new type. `I` is
// int for the plain functions and MPI_Count for the large-count forms (names with _c). On success `out` has
// one reference and is not committed. Errors: the standard's classes. No function suspends.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

template <class I>
Err construct_contiguous(I count, const Datatype& old, Datatype*& out);

template <class I>
Err construct_vector(I count, I blocklength, I stride, const Datatype& old, Datatype*& out);

template <class I>
Err construct_hvector(I count, I blocklength, MPI_Aint stride, const Datatype& old, Datatype*& out);

/// Displacements in extents of `old`.
template <class I>
Err construct_indexed(I count, const I* blocklengths, const I* displacements, const Datatype& old,
                      Datatype*& out);

/// Displacements in bytes.
template <class I>
Err construct_hindexed(I count, const I* blocklengths, const MPI_Aint* displacements, const Datatype& old,
                       Datatype*& out);

template <class I>
Err construct_indexed_block(I count, I blocklength, const I* displacements, const Datatype& old,
                            Datatype*& out);

template <class I>
Err construct_hindexed_block(I count, I blocklength, const MPI_Aint* displacements, const Datatype& old,
                             Datatype*& out);

/// `types` are handles; MPI_ERR_TYPE if one of them is no datatype.
template <class I>
Err construct_struct(I count, const I* blocklengths, const MPI_Aint* displacements, const MPI_Datatype* types,
                     Datatype*& out);

/// `large`: made by the large-count form, and described as such.
Err construct_resized(const Datatype& old, MPI_Count lb, MPI_Count extent, bool large, Datatype*& out);

Err construct_dup(const Datatype& old, Datatype*& out);

}  // namespace tmpi::mpi
