#include "net/sim/arrivals.hpp"

#include <algorithm>

namespace tmpi::net::sim {

Nanoseconds Arrivals::admit(const Model& model, const Piece& piece, Nanoseconds first_started) noexcept {
  const Nanoseconds start = std::max(piece.arrives, free_);
  current_ = piece;
  complete_ = start + model.wire_time(piece.bytes);
  free_ = complete_;
  // The gap counts from the start of the message, whose bytes may take longer anyway.
  if (piece.last) free_ = std::max(free_, (piece.first ? start : first_started) + model.gap);
  return start;
}

}  // namespace tmpi::net::sim
