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

  // The same two as seq_cst: for one who leaves a word for the holder before he tries, and a holder who looks
  // for such words after he has unlocked (Dekker's pattern): one of the two sees the other.
  bool try_lock_ordered() noexcept { return !locked_.exchange(true, std::memory_order_seq_cst); }
  void unlock_ordered() noexcept { locked_.exchange(false, std::memory_order_seq_cst); }

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
