// A test-and-test-and-set lock for critical sections of a few nanoseconds. Never held across a scheduling
// point: the holder is an OS thread (a worker), not a fiber. Gives the core away after a while, since workers
// may outnumber cores.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/platform.hpp"

namespace tmpi {

class SpinLock {
 public:
  void lock() noexcept {
    // acquire pairs with the release in unlock(): the section sees what the previous holder wrote.
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  void wait() noexcept {
    for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
      if (spins < 200) {
        cpu_relax();
      } else {
        sched_yield();
      }
    }
  }
  std::atomic<bool> locked_{false};
};

}  // namespace tmpi
