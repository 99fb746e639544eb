// The LogGP model of a wire (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA '95), in nanoseconds of
// CLOCK_MONOTONIC, which all processes of a machine share.
//
//     L  latency    from the last byte's departure until it has crossed the wire
//     o  overhead   time of the CPU per message, once at the sender and once at the receiver
//     g  gap        least distance between the starts of two messages at one network interface, either way
//     G  per byte   time per byte at a network interface, either way: the inverse of the bandwidth
//
// A message of k bytes that is sent at time 0 to a node where nothing else arrives is there at
// o + kG + L + o. Both directions of an interface work at the same time; each serves in order.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tmpi::net::sim {

/// A point in time or a length of time.
using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kNever = INT64_MAX;

/// CLOCK_MONOTONIC.
Nanoseconds now() noexcept;

/// Uses the CPU until then.
void spin_until(Nanoseconds time) noexcept;

struct Model {
  Nanoseconds latency = 0;
  Nanoseconds overhead = 0;
  Nanoseconds gap = 0;
  Nanoseconds jitter = 0;  ///< each message's latency is longer by up to this much, drawn at random
  double per_byte = 0;     ///< nanoseconds
  double dilation = 1;     ///< by which all of the above has been multiplied already: only to be shown
  std::uint64_t seed = 1;
  std::size_t buffers = 64;  ///< receive buffers per connection that is made at the start

  /// How long an interface is busy with the bytes themselves.
  Nanoseconds wire_time(std::uint64_t bytes) const noexcept {
    return static_cast<Nanoseconds>(std::llround(per_byte * static_cast<double>(bytes)));
  }
};

/// One direction of a network interface: a resource that is reserved in turn. Lies in memory that processes
/// share; any thread.
class Interface {
 public:
  /// Reserves `length` from `earliest` or from when the interface is free, if that is later. When it starts.
  Nanoseconds reserve(Nanoseconds earliest, Nanoseconds length) noexcept;

 private:
  // Only a number that is agreed upon: relaxed, nothing is published by it.
  std::atomic<Nanoseconds> free_{0};
  static_assert(std::atomic<Nanoseconds>::is_always_lock_free);
};

/// Departures of the pieces of one message: what the interface is reserved for, such that the message as a
/// whole keeps it at least for a gap.
class Departure {
 public:
  /// The next piece, of so many bytes, goes out no earlier than `ready`; when it starts.
  Nanoseconds piece(Interface& interface, const Model& model, Nanoseconds ready, std::uint64_t bytes,
                    bool last) noexcept;

 private:
  Nanoseconds first_ = kNever;
};

/// A sequence of random delays in [0, jitter], the same for the same seed.
class Jitter {
 public:
  Jitter() = default;
  /// `stream`: different for each ordered pair of nodes.
  Jitter(const Model& model, std::uint64_t stream) noexcept;
  Nanoseconds next() noexcept;

 private:
  Nanoseconds most_ = 0;
  std::uint64_t state_ = 0;
};

}  // namespace tmpi::net::sim
