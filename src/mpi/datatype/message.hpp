// The node of a whole message: `count` elements of a type, on the stack of the caller.
#pragma once

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/layout.hpp"

namespace tmpi::mpi {

inline Node message_node(MPI_Count count, const Datatype& type) noexcept {
  return repeated(count, type.extent(), type.layout().root());
}

}  // namespace tmpi::mpi
