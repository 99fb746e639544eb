// What a call was about: bytes, peer, tag and communicator, read from its arguments after it has succeeded.
// Which argument is which says the function's Shape. Called by the rank that has made the call; does not
// suspend.
#pragma once

#include <cstdint>

#include "observe/event.hpp"
#include "observe/shape.hpp"

namespace tmpi::mpi {
struct Comm;
}

namespace tmpi::observe {

struct Measured {
  std::int64_t bytes = 0;
  std::uint64_t context = 0;  ///< of the communicator, 0: none
  int peer = Event::kNobody;
  int tag = Event::kNobody;
  bool rooted = false;  ///< `peer` is the root of a collective
  const mpi::Comm* comm = nullptr;
};

/// `words`: the call's arguments (base/words.hpp).
Measured measure(const Shape& shape, const std::uint64_t* words) noexcept;

}  // namespace tmpi::observe
