// Copying a large message with two cores: the worker of the rank at the other end, which waits for the message,
// takes part if it has nothing else to run (sched/assist.hpp). docs/design/matching.md, "Large messages".
#pragma once

#include <cstring>

#include "mpi/p2p/way.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

namespace detail {
void copy_shared(void* to, const void* from, MPI_Count bytes, int worker) noexcept;
}

/// Copies `bytes`, together with the worker of `other`, if that is another one and idles; `other` may be null.
/// The buffers do not overlap. Does not suspend.
inline void copy_together(void* to, const void* from, MPI_Count bytes, const Rank* other) noexcept {
  if (other == nullptr || choose_copiers(bytes) == Copiers::kOne) [[likely]] {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else {
    detail::copy_shared(to, from, bytes, other->worker.load(std::memory_order_relaxed));
  }
}

}  // namespace tmpi::mpi
