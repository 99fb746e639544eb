// Regions: the memory that a member has attached to a dynamic window. MPI report, 12.2.4. Any thread; nothing suspends.
#pragma once

#include <map>

#include "base/spinlock.hpp"
#include "mpi/base/error.hpp"
#include "mpi/datatype/kernels.hpp"

namespace tmpi::mpi {

class Regions {
 public:
  /// MPI_ERR_RMA_ATTACH if it overlaps what is attached.
  Err attach(Address base, MPI_Aint size);
  /// MPI_ERR_RMA_ATTACH if nothing that begins there is attached.
  Err detach(Address base);
  /// [low, high) lies inside one region, or in several that follow each other without a gap.
  bool contain(Address low, Address high) noexcept;
  /// All of them: the end by the beginning. While nobody attaches or detaches.
  const std::map<Address, Address>& all() const noexcept { return ends_; }

 private:
  SpinLock lock_;
  std::map<Address, Address> ends_;  // by the beginning
};

}  // namespace tmpi::mpi
