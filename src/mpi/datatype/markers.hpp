// MPI_LB and MPI_UB, which MPI 3.0 removed: members of a struct type that have no data and set its bounds.
// MPI 1.3, 3.12.3. Old programs pass them to MPI_Type_struct and to MPI_Type_create_struct.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// "MPI_LB" or "MPI_UB"; null if the handle is no marker.
const char* marker_name(MPI_Datatype handle) noexcept;

/// True if there are markers among the types (which may be null, as count may be negative: then not).
template <class I>
bool has_markers(I count, const MPI_Datatype* types);

/// construct_struct for types with markers: a resized type of the struct of the other members. The lowest
/// MPI_LB and the highest MPI_UB are the bounds, whatever the data; bounds that a member's type was given by
/// markers (or by MPI_Type_create_resized) count as such.
template <class I>
Err construct_marked_struct(I count, const I* lengths, const MPI_Aint* displacements,
                            const MPI_Datatype* types, Datatype*& out);

}  // namespace tmpi::mpi
