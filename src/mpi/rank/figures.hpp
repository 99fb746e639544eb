// RankFigures: what is counted of a rank while somebody wants to know: --profile, --trace, a session of the tools
// interface (mpi/tool). Nobody touches it else. docs/reference/tools-interface.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/platform.hpp"
#include "base/spinlock.hpp"

namespace tmpi::mpi {

namespace tool {
class Events;        // tool/events.hpp
struct CommTraffic;  // tool/traffic.hpp
}  // namespace tool

/// Relaxed: a figure says nothing of anything else.
using Figure = std::atomic<std::uint64_t>;

inline std::uint64_t value_of(const Figure& figure) noexcept {
  return figure.load(std::memory_order_relaxed);
}
/// Of a figure that one thread at a time adds to.
inline void add_own(Figure& figure, std::uint64_t number) noexcept {
  figure.store(value_of(figure) + number, std::memory_order_relaxed);
}
/// Of one that several do.
inline void add(Figure& figure, std::uint64_t number) noexcept {
  figure.fetch_add(number, std::memory_order_relaxed);
}

/// How a message leaves its sender.
enum class Departure : unsigned char {
  kDirect,      ///< into the buffer of a receive that had been posted
  kEager,       ///< the library has a copy, or it has gone to another node unasked: the sender goes on
  kRendezvous,  ///< it waits at its sender until there is a receive
};
inline constexpr int kDepartures = 3;

/// Messages, collectives' included.
struct MessageFigures {
  Figure messages{0};
  Figure bytes{0};
};

struct alignas(kCacheLine) RankFigures {
  // Written by the rank's flows of control, of which one at a time is inside the library.
  MessageFigures sent;
  std::array<MessageFigures, kDepartures> ways;  ///< to ranks of this node process
  std::array<MessageFigures, kDepartures>
      remote_ways;  ///< to others; written under the protocol layer's lock
  /// Written by whoever copies.
  MessageFigures received;
  Figure most_unexpected{0};  ///< see tool/variables.cpp

  // Written by the worker that runs the rank, at switches (tool/activity.hpp). Ticks.
  Figure started{0};  ///< first switch to it that was seen, 0: not yet
  Figure left{0};     ///< when it was suspended or ended, 0 while it runs
  Figure waited{0};   ///< suspended so far
  Figure idled{0};    ///< part of waited: its core then had nothing else to run
  Figure waits{0};    ///< times it was suspended

  SpinLock traffic_lock;
  std::atomic<tool::CommTraffic*> traffic{
      nullptr};                                ///< communicators that are watched; changed under the lock
  std::atomic<tool::Events*> events{nullptr};  ///< acquire, release; once made it stays
};

}  // namespace tmpi::mpi
