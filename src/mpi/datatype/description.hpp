// Description: how a datatype was made: the constructor (combiner) and its arguments, as
// MPI_Type_get_envelope and MPI_Type_get_contents return them (MPI report, 5.1.13). Immutable; holds one
// reference to each of its types.
#pragma once

#include <vector>

#include "mpi.h"

namespace tmpi::mpi {

class Datatype;

struct Description {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;  ///< arguments of the large-count constructors (names with _c)
  std::vector<const Datatype*> types;
  /// Only for struct: the blocklengths, whichever of the lists above they are in, so that basic elements can
  /// be counted.
  std::vector<MPI_Count> blocklengths;
};

}  // namespace tmpi::mpi
