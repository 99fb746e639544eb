// Topology: the shape that a communicator's ranks are arranged in; immutable, shared by all members. MPI
// report, chapter 8.
#pragma once

#include <memory>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// A cartesian grid in row-major order: the last coordinate runs fastest. No dimension at all: one rank.
struct Topology {
  std::vector<int> dims;
  std::vector<int> periods;  ///< 1: the dimension is closed to a ring

  int ndims() const noexcept { return static_cast<int>(dims.size()); }
  void coords_of(int rank, int coords[]) const noexcept;
  /// The rank at coordinates that lie inside the grid.
  int rank_of(const int coords[]) const noexcept;
};

/// The number of ranks in a grid, 0 if it is beyond int. dims > 0.
int grid_size(int ndims, const int dims[]) noexcept;

/// MPI_Cart_create: ranks 0 .. size - 1 of the grid keep their order, the rest gets null. `reorder` is not
/// used: a block of neighbouring ranks lives on one worker already, so that grid neighbours in the last
/// dimensions share a worker. SUSPENDS.
Err create_cart(Comm& parent, Topology shape, Comm*& created);

/// MPI_Cart_sub: one grid for each value of the coordinates that are dropped. SUSPENDS.
Err create_sub_cart(Comm& parent, const int remain[], Comm*& created);

/// MPI_Cart_shift.
void shift(const Topology& grid, int rank, int direction, int displacement, int& source, int& dest);

/// MPI_Dims_create: replaces the zeros in dims so that the product is `nodes`; the replaced ones do not
/// increase and the largest is as small as possible, then the second, and so on. MPI_ERR_DIMS if that cannot
/// be.
Err fill_dims(int nodes, int ndims, int dims[]);

}  // namespace tmpi::mpi
