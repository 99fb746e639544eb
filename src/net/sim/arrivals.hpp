// Arrivals: the way into a node's network interface. Bytes from the other nodes' rings, and bytes that this
// node gets from their memory, come in through it one after the other, in the order in which they reach it;
// what is there is delivered only when its last byte has come in. One thread at a time.
#pragma once

#include <cstdint>

#include "net/sim/model.hpp"

namespace tmpi::net::sim {

class Arrivals {
 public:
  /// A piece of a message that waits, or is on its way, at the front of one of the sources.
  struct Piece {
    int source = -1;               ///< the user's: which source it comes from; -1: nothing
    Nanoseconds arrives = kNever;  ///< when its first byte reaches the interface
    std::uint64_t bytes = 0;
    bool first = true, last = true;  ///< of its message
  };

  /// Is a piece coming in now? Then nothing else can.
  bool busy() const noexcept { return current_.source >= 0; }
  const Piece& current() const noexcept { return current_; }
  /// When the current piece is there.
  Nanoseconds complete() const noexcept { return complete_; }

  /// Not busy: lets a piece in, the one that arrives first among all that there are, and not before
  /// `arrives`. `first_started`: of its message's first piece, what this function has returned; when it has
  /// started.
  Nanoseconds admit(const Model& model, const Piece& piece, Nanoseconds first_started) noexcept;
  /// The current piece has been delivered.
  void finish() noexcept { current_ = Piece{}; }

  /// When a piece would be there if it came in next.
  Nanoseconds estimate(const Model& model, const Piece& piece) const noexcept {
    return (piece.arrives > free_ ? piece.arrives : free_) + model.wire_time(piece.bytes);
  }

 private:
  Piece current_;
  Nanoseconds complete_ = 0;
  Nanoseconds free_ = 0;
};

}  // namespace tmpi::net::sim
