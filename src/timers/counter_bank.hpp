// Performance counters from the two points of view (Nigay et al., section 3.5.1): what the process has
// counted while it ran, and what the core has counted in metered sections. The arithmetic of
// point_of_view.hpp with another quantity than time. A CounterBank belongs to one worker and is used by its
// thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "timers/counter_source.hpp"

namespace tmpi::timers {

/// What one process has counted. The process's own; moves with it from core to core.
struct CounterTotals {
  std::uint32_t counting = 0;  ///< events, a bit each
  std::uint32_t lost = 0;      ///< events that could not be counted on some core that it ran on
  std::uint64_t total[kMaxEvents] = {};
};

/// What one core counts.
class CounterBank {
 public:
  CounterBank() = default;
  /// With a source of its own instead of the machine's (tests).
  explicit CounterBank(std::unique_ptr<CounterSource> source) : source_(std::move(source)) {}

  bool any_open() const noexcept { return open_ != 0; }

  /// The running process begins to count `event`; `in_section`: it is in a metered section. Pairs with
  /// release().
  Result<void> acquire(int event, CounterTotals& process, bool in_section);
  /// The running process counts `event` no longer. The core counts on while another process of it does.
  void release(int event, CounterTotals& process, bool in_section) noexcept;

  // At a switch; `process` is null if it has opened no counter. `when` is the time of the switch: the process
  // that is left and the one that comes share one reading of each event.
  void suspend(CounterTotals* process, bool in_section, std::uint64_t when) noexcept;
  void resume(CounterTotals* process, bool in_section, std::uint64_t when) noexcept;
  // At the ends of a section.
  void enter_section() noexcept;
  void leave_section() noexcept;

  /// The running process's value; false: it could not be counted all the time.
  bool read_process(int event, CounterTotals& process, std::uint64_t& value) noexcept;
  /// The core's value, the running process's present stretch included.
  bool read_core(int event, bool in_section, std::uint64_t& value) noexcept;

 private:
  Result<void> open(int event);
  bool now(int event, std::uint64_t& value) noexcept;
  bool at_switch(int event, std::uint64_t when, std::uint64_t& value) noexcept;

  std::unique_ptr<CounterSource> source_;  // made by the first open()
  std::uint32_t open_ = 0;
  std::uint32_t lost_ = 0;                // events with a gap in `core_`
  std::uint32_t users_[kMaxEvents] = {};  // acquire() less release()
  std::uint64_t core_[kMaxEvents] = {};
  // Where the running process's present stretch began: of its running, and of its time in the section.
  std::uint64_t run_since_[kMaxEvents] = {};
  std::uint64_t section_since_[kMaxEvents] = {};
  // The last switch at which an event was read, and its value there.
  std::uint64_t read_at_[kMaxEvents] = {};
  std::uint64_t read_value_[kMaxEvents] = {};
};

}  // namespace tmpi::timers
