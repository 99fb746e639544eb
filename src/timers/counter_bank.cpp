#include "timers/counter_bank.hpp"

#include <bit>

namespace tmpi::timers {
namespace {

constexpr std::uint32_t bit(int event) noexcept {
  return std::uint32_t{1} << event;
}

/// Calls `body(event)` for each event of a mask.
template <class Body>
void for_each(std::uint32_t events, Body&& body) {
  for (; events != 0; events &= events - 1) body(std::countr_zero(events));
}

}  // namespace

Result<void> CounterBank::open(int event) {
  if (source_ == nullptr) source_ = machine_counters();
  if (Result<void> opened = source_->open(event); !opened) return opened;
  open_ |= bit(event);
  return {};
}

bool CounterBank::now(int event, std::uint64_t& value) noexcept {
  return (open_ & bit(event)) != 0 && source_->read(event, value);
}

bool CounterBank::at_switch(int event, std::uint64_t when, std::uint64_t& value) noexcept {
  if (read_at_[event] != when) {
    if (!now(event, read_value_[event])) return false;
    read_at_[event] = when;
  }
  value = read_value_[event];
  return true;
}

Result<void> CounterBank::acquire(int event, CounterTotals& process, bool in_section) {
  std::uint64_t value = 0;
  if ((open_ & bit(event)) == 0) {
    if (Result<void> opened = open(event); !opened) return opened;
    if (!now(event, value)) {
      source_->close(event);
      open_ &= ~bit(event);
      return Failure{std::string("the processor has no free counter for ") + event_name(event) +
                     "; close another one"};
    }
    if (in_section) section_since_[event] = value;
  }
  ++users_[event];
  if ((process.counting & bit(event)) == 0) {
    process.counting |= bit(event);
    process.lost &= ~bit(event);
    if (!now(event, run_since_[event])) process.lost |= bit(event);
  }
  return {};
}

void CounterBank::release(int event, CounterTotals& process, bool in_section) noexcept {
  process.counting &= ~bit(event);
  // A process that has come from another core was not counted here.
  if (users_[event] > 0) --users_[event];
  if (users_[event] > 0 || (open_ & bit(event)) == 0) return;
  std::uint64_t kept = 0;
  if (!read_core(event, in_section, kept)) lost_ |= bit(event);
  source_->close(event);
  open_ &= ~bit(event);
}

void CounterBank::suspend(CounterTotals* process, bool in_section, std::uint64_t when) noexcept {
  const std::uint32_t own = process == nullptr ? 0 : process->counting;
  for_each(own | (in_section ? open_ : 0), [&](int event) {
    std::uint64_t value = 0;
    const bool valid = at_switch(event, when, value);
    if ((own & bit(event)) != 0) {
      if (valid) {
        process->total[event] += value - run_since_[event];
      } else {
        process->lost |= bit(event);
      }
    }
    if (!in_section) return;
    if (valid) {
      core_[event] += value - section_since_[event];
    } else {
      lost_ |= bit(event);
    }
  });
}

void CounterBank::resume(CounterTotals* process, bool in_section, std::uint64_t when) noexcept {
  const std::uint32_t own = process == nullptr ? 0 : process->counting;
  // Only after a process has come from another core, hence cold.
  for_each(own & ~open_, [&](int event) {
    if (!open(event)) process->lost |= bit(event);
  });
  for_each((own | (in_section ? open_ : 0)) & open_, [&](int event) {
    std::uint64_t value = 0;
    if (!at_switch(event, when, value)) {
      if ((own & bit(event)) != 0) process->lost |= bit(event);
      lost_ |= bit(event);
    }
    run_since_[event] = section_since_[event] = value;
  });
}

void CounterBank::enter_section() noexcept {
  for_each(open_, [&](int event) {
    if (!now(event, section_since_[event])) lost_ |= bit(event);
  });
}

void CounterBank::leave_section() noexcept {
  for_each(open_, [&](int event) {
    std::uint64_t kept = 0;
    if (!read_core(event, true, kept)) lost_ |= bit(event);
  });
}

bool CounterBank::read_process(int event, CounterTotals& process, std::uint64_t& value) noexcept {
  std::uint64_t present = 0;
  if (now(event, present)) {
    process.total[event] += present - run_since_[event];
    run_since_[event] = present;
  } else {
    process.lost |= bit(event);
  }
  value = process.total[event];
  return (process.lost & bit(event)) == 0;
}

bool CounterBank::read_core(int event, bool in_section, std::uint64_t& value) noexcept {
  if (in_section) {
    std::uint64_t present = 0;
    if (now(event, present)) {
      core_[event] += present - section_since_[event];
      section_since_[event] = present;
    } else {
      lost_ |= bit(event);
    }
  }
  value = core_[event];
  return (lost_ & bit(event)) == 0;
}

}  // namespace tmpi::timers
