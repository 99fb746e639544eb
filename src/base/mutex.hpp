// Mutex: std::mutex in words that clang checks (thread_safety.hpp), and a lock of it that a condition variable can wait with.
#pragma once

#include <mutex>

#include "base/thread_safety.hpp"

namespace tmpi {

class TMPI_CAPABILITY("mutex") Mutex {
 private:
  friend class MutexLock;
  std::mutex mutex_;
};

class TMPI_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept TMPI_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() TMPI_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  /// For std::condition_variable::wait().
  std::unique_lock<std::mutex>& held() noexcept { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace tmpi
