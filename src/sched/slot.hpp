// Slots: what can be seen from outside of the time for which a task has its worker. docs/design/scheduling.md.
#pragma once

#include <cstdint>

namespace tmpi::sched {

struct Slot {
  std::uint64_t switches = 0;  ///< of the worker so far: unchanged while a task runs on
  int thread = 0;              ///< the kernel's number of the worker's thread; 0: it does not run yet
  bool has_ready =
      false;  ///< tasks could run there, or have been made ready from elsewhere, as far as a glance shows
};

/// Of a worker of the process's scheduler. Any thread; a recent state.
Slot slot_of(int worker) noexcept;

}  // namespace tmpi::sched
