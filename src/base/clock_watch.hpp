// Whether code of a rank has looked at a clock: a loop that tests for a message may have a time limit, and is then no
// sign that nothing will ever happen (mpi/diagnose/polling.hpp). Any thread; relaxed, a hint.
#pragma once

#include <atomic>

namespace tmpi {

inline std::atomic<bool> clock_has_been_read{false};

inline void note_clock_reading() noexcept {
  if (!clock_has_been_read.load(std::memory_order_relaxed))  // no line is written twice
    clock_has_been_read.store(true, std::memory_order_relaxed);
}

}  // namespace tmpi
