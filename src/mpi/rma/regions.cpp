#include "mpi/rma/regions.hpp"

#include <iterator>
#include <mutex>

namespace tmpi::mpi {

Err Regions::attach(Address base, MPI_Aint size) {
  const Address end = moved(base, size);
  bool overlaps;
  {
    const std::scoped_lock guard(lock_);
    const auto next = ends_.lower_bound(base);
    overlaps = (next != ends_.end() && (next->first < end || next->first == base)) ||
               (next != ends_.begin() && std::prev(next)->second > base);
    if (!overlaps) ends_.emplace(base, end);
  }
  if (!overlaps) return kOk;
  return fail(MPI_ERR_RMA_ATTACH,
              "the {} bytes at {:#x} overlap memory that is attached to the window already", size, base);
}

Err Regions::detach(Address base) {
  std::size_t gone;
  {
    const std::scoped_lock guard(lock_);
    gone = ends_.erase(base);
  }
  if (gone > 0) return kOk;
  return fail(MPI_ERR_RMA_ATTACH, "no memory that begins at {:#x} is attached to the window", base);
}

bool Regions::contain(Address low, Address high) noexcept {
  const std::scoped_lock guard(lock_);
  auto region = ends_.upper_bound(low);
  if (region == ends_.begin()) return false;
  --region;
  Address covered = region->second;
  while (covered < high && ++region != ends_.end() && region->first == covered) covered = region->second;
  return low < covered && high <= covered;
}

}  // namespace tmpi::mpi
