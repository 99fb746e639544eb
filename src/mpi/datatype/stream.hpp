// Moves a range of the packed stream of a layout to or from memory.
#pragma once

#include "mpi/datatype/kernels.hpp"
#include "mpi/datatype/node.hpp"

namespace tmpi::mpi {

enum class Direction : bool { kPack, kUnpack };

/// Copies bytes [from, to) of the stream of `node` at address `base` to (kPack) or from (kUnpack) `packed`.
template <Direction kDirection>
void move_stream(const Node& node, Address base, Address packed, MPI_Count from, MPI_Count to) noexcept;

}  // namespace tmpi::mpi
