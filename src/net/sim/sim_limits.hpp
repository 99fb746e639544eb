// Sizes inside sim, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/sim/model.hpp"

namespace tmpi::net::sim {

inline constexpr std::size_t kMostHeader = 512;
/// As what network interfaces take over without registered memory.
inline constexpr std::uint64_t kMostBuffered = 16 * 1024;
/// Messages travel in pieces of so many bytes: while one is copied the next is on the wire.
inline constexpr std::uint64_t kPiece = 128 * 1024;
/// Limits::transfer_depth: what the interface moves in so many nanoseconds on the model's clock: two pieces, each of which costs
/// the overhead at both ends, and which a small message waits for.
inline constexpr double kDepthTime = 21'150;
/// In ns by the clock on the wall it is no less than a thread takes to wake up, some times over.
inline constexpr double kLeastDepthTime = 42'300;
inline constexpr std::size_t kLeastDepth = 64 * 1024;
inline constexpr std::size_t kMostDepth = 1024 * 1024;
/// Sends whose buffers are not free yet, and reads, at a time.
inline constexpr std::size_t kMostDepartures = 4096;
inline constexpr int kMostGets = 1024;
/// A thread that sleeps is woken no more precisely than this; what is nearer is waited for awake.
inline constexpr Nanoseconds kWakeUp = 50'000;
/// How often poll() looks whether other processes have ended, if it never sleeps.
inline constexpr double kWatchSeconds = 5e-3;
/// Records of a ring that are looked at for something small.
inline constexpr int kLookAhead = 8;
/// A period of the receive pools (net/receive_pools.hpp).
inline constexpr double kPoolSeconds = 1;
/// Deliveries per poll(): the worker that polls has ranks to run.
inline constexpr int kDeliveries = 64;

static_assert(kMostBuffered <= kPiece);

}  // namespace tmpi::net::sim
