#include "mpi/rma/place.hpp"

#include <algorithm>

namespace tmpi::mpi {
namespace {

[[gnu::cold]] Err negative(MPI_Aint disp) {
  return fail(MPI_ERR_DISP, "target_disp is {}: it must not be negative", disp);
}

[[gnu::cold]] Err outside(const Window& window, const Spot& target) {
  const Extent& extent = window.members->extent(target.rank);
  if (window.members->flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return fail(
        MPI_ERR_RMA_RANGE,
        "the {} elements at address {:#x} of rank {} do not lie in memory that it has attached to the window",
        target.count, static_cast<Address>(target.disp), target.rank);
  return fail(MPI_ERR_RMA_RANGE,
              "{} elements ({} bytes of data) at displacement {} (of {} bytes each) do not lie inside the {} "
              "bytes of "
              "rank {}'s window",
              target.count, target.bytes(), target.disp, extent.disp_unit, extent.size, target.rank);
}

}  // namespace

Span span_of(MPI_Count count, MPI_Count extent, MPI_Count true_lb, MPI_Count true_extent) noexcept {
  Span span;
  if (count == 0 || true_extent == 0) return span;
  MPI_Count last;
  span.overflow = __builtin_mul_overflow(count - 1, extent, &last) ||
                  __builtin_add_overflow(std::min<MPI_Count>(last, 0), true_lb, &span.low) ||
                  __builtin_add_overflow(std::max<MPI_Count>(last, 0), true_lb, &span.high) ||
                  __builtin_add_overflow(span.high, true_extent, &span.high);
  return span;
}

bool inside(const WindowShared& window, int rank, MPI_Aint displacement, const Span& span) noexcept {
  MPI_Aint low, high;
  if (span.overflow || __builtin_add_overflow(displacement, span.low, &low) ||
      __builtin_add_overflow(displacement, span.high, &high))
    return false;
  if (low == high) return true;
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return window.member(rank)->regions.contain(static_cast<Address>(low), static_cast<Address>(high));
  return low >= 0 && high <= window.extent(rank).size;
}

Err locate_slowly(const Window& window, const Spot& target, MPI_Aint& displacement) {
  const WindowShared& members = *window.members;
  displacement = target.disp;
  if (members.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    if (members.member(target.rank) == nullptr) return kOk;  // known there
  } else {
    if (target.disp < 0) return negative(target.disp);
    if (__builtin_mul_overflow(target.disp, members.extent(target.rank).disp_unit, &displacement))
      return outside(window, target);
  }
  const Datatype& type = *target.type;
  const Span span = span_of(target.count, type.extent(), type.true_lb(), type.true_extent());
  return inside(members, target.rank, displacement, span) ? kOk : outside(window, target);
}

}  // namespace tmpi::mpi
