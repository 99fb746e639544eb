// Where in memory the target of an operation lies, and that it lies inside the window. Any thread; nothing suspends.
#pragma once

#include "mpi/rma/operation.hpp"

namespace tmpi::mpi {

/// What `count` elements of a type touch, as offsets from the first element's.
struct Span {
  MPI_Count low = 0;
  MPI_Count high = 0;  ///< behind the last byte
  bool overflow = false;
};
Span span_of(MPI_Count count, MPI_Count extent, MPI_Count true_lb, MPI_Count true_extent) noexcept;

/// The byte displacement of `target`, of a dynamic window its address. Its range is checked, but for a dynamic window
/// of another node. MPI_ERR_DISP, MPI_ERR_RMA_RANGE.
Err locate_slowly(const Window& window, const Spot& target, MPI_Aint& displacement);
inline Err locate(const Window& window, const Spot& target, MPI_Aint& displacement) {
  const WindowShared& members = *window.members;
  const Extent& extent = members.extent(target.rank);
  MPI_Count bytes, end;
  if (target.type->contiguous() && target.disp >= 0 && members.flavor != MPI_WIN_FLAVOR_DYNAMIC &&
      !__builtin_mul_overflow(target.disp, extent.disp_unit, &displacement) &&
      !__builtin_mul_overflow(target.count, target.type->size(), &bytes) &&
      !__builtin_add_overflow(displacement, bytes, &end) && end <= extent.size) [[likely]]
    return kOk;
  return locate_slowly(window, target, displacement);
}

/// [low, high) of the displacement at a member of this node is memory of the window.
bool inside(const WindowShared& window, int rank, MPI_Aint displacement, const Span& span) noexcept;

/// The address behind a displacement.
inline Address address_at(const WindowShared& window, int rank, MPI_Aint displacement) noexcept {
  return moved(window.extent(rank).base, displacement);
}

}  // namespace tmpi::mpi
