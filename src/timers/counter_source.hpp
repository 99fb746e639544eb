// Performance counters of one thread: what they are called and where their values come from. Linux perf
// events for the processor's counters, read in user space where the kernel allows it, else by read(2); what
// the kernel keeps of every thread anyway (CPU time, page faults, context switches) for the others, which
// need no permission.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tmpi::timers {

/// Most events there are: an event is an index into the table of names, and a bit of a mask.
inline constexpr int kMaxEvents = 16;

/// Index of the event with this name, perf's ("cache-misses") or PAPI's ("PAPI_L3_TCM"); -1: there is none.
int find_event(std::string_view name) noexcept;
/// The name of an event as perf has it.
const char* event_name(int event) noexcept;
/// All names, for an error message: "instructions, cycles, ...".
std::string event_names();

/// The counters of one thread. All functions are called by that thread.
class CounterSource {
 public:
  virtual ~CounterSource() = default;
  /// The failure's sentence has the kernel's reason and what to do.
  virtual Result<void> open(int event) = 0;
  virtual void close(int event) noexcept = 0;
  /// Value since some fixed time; false if the event could not be counted all the time (the processor had no
  /// free counter). Never suspends; a system call where the kernel does not allow reading in user space.
  virtual bool read(int event, std::uint64_t& value) noexcept = 0;
};

/// The machine's counters, of the calling thread.
std::unique_ptr<CounterSource> machine_counters();

}  // namespace tmpi::timers
