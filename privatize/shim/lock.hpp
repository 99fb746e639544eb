// Lock: guards a rank's own lists against the rank's helper threads. Never held while user code runs or a
// fiber may be suspended, so it is free nearly always.
#pragma once

#include <sched.h>

#include <atomic>

namespace tmpi::shim {

class Lock {
 public:
  void lock() noexcept {
    // acquire: sees what the previous holder wrote before its unlock()
    while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class Locked {
 public:
  explicit Locked(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace tmpi::shim
