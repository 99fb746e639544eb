// Cartesian grids. MPI report, 8.5.1 and 8.5.5 to 8.5.7.
#pragma once

#include <vector>

#include "mpi/comm/topology.hpp"

namespace tmpi::mpi {

/// A grid in row-major order: the last coordinate runs fastest. No dimension at all: one rank.
struct Grid final : Topology {
  Grid() : Topology(MPI_CART) {}
  std::vector<int> dims;
  std::vector<int> periods;  ///< 1: the dimension is closed to a ring

  int ndims() const noexcept { return static_cast<int>(dims.size()); }
  void coords_of(int rank, int coords[]) const noexcept;
  /// The rank at coordinates that lie inside the grid.
  int rank_of(const int coords[]) const noexcept;
  /// For each dimension the rank one step down, then the one a step up.
  void neighbours(int rank, Neighbours& result) const override;
};

/// The communicator's grid; null if it has none.
inline const Grid* grid_of(const Comm& comm) noexcept {
  const Topology* topology = comm.topology.get();
  return topology != nullptr && topology->kind == MPI_CART ? static_cast<const Grid*>(topology) : nullptr;
}

/// The number of ranks in a grid, 0 if it is beyond int. dims > 0.
int grid_size(int ndims, const int dims[]) noexcept;

/// MPI_Cart_create: ranks 0 .. size - 1 of the grid keep their order, the rest gets null. `reorder` is not
/// used: a block of neighbouring ranks lives on one worker already, so that grid neighbours in the last
/// dimensions share a worker. SUSPENDS.
Err create_cart(Comm& parent, Grid shape, Comm*& created);

/// MPI_Cart_sub: one grid for each value of the coordinates that are dropped. SUSPENDS.
Err create_sub_cart(Comm& parent, const Grid& grid, const int remain[], Comm*& created);

/// MPI_Cart_shift.
void shift(const Grid& grid, int rank, int direction, int displacement, int& source, int& dest);

/// MPI_Dims_create: replaces the zeros in dims so that the product is `nodes`; the replaced ones do not
/// increase, and the difference between the first and the last is the least possible; if that leaves several,
/// the last is the largest possible, and then the same holds for those in between. MPI_ERR_DIMS if the product
/// cannot be made.
Err fill_dims(int nodes, int ndims, int dims[]);

}  // namespace tmpi::mpi
