// Event: one entry of a trace, a cache line. Written by the worker on which it happened, read when the job is
// over: by the node process, which makes nanoseconds of ticks, then by tmpirun (trace.hpp).
#pragma once

#include <cstdint>
#include <limits>

#include "base/platform.hpp"

namespace tmpi::observe {

enum class EventKind : std::uint8_t {
  kStretch,   ///< a rank has run on this worker from `begin` to `end`; `number`: ranks that were ready then
  kCall,      ///< an MPI call of a rank; `number`: ticks of it in which the rank was suspended
  kSent,      ///< at `begin` a message went from `rank` to `peer`
  kReceived,  ///< at `begin` the message from `rank` to `peer` was matched and copied
  kUnfinishedCall,  ///< one that the rank was in when the recording was stopped
};

struct alignas(kCacheLine) Event {
  static constexpr int kNobody = std::numeric_limits<int>::min();  ///< `peer` and `tag` of a call without one

  std::uint64_t begin = 0;      ///< ticks
  std::uint64_t end = 0;        ///< ticks
  std::uint64_t address = 0;    ///< of a call: where it returns to
  std::uint64_t context = 0;    ///< of the communicator, 0: none
  std::uint64_t number = 0;     ///< see EventKind
  std::int64_t bytes = 0;       ///< payload
  std::int32_t rank = 0;        ///< world rank
  std::int32_t peer = kNobody;  ///< of a call: rank in its communicator; of a message: world rank
  std::int32_t tag = kNobody;
  std::uint16_t function = 0;  ///< of a call: index in recorded_functions()
  EventKind kind = EventKind::kStretch;
  bool rooted = false;  ///< of a call: `peer` is the root of a collective
};
static_assert(sizeof(Event) == 64);

}  // namespace tmpi::observe
