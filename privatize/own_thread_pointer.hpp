// A thread pointer of a rank's own. A program that a plain compiler has linked finds its thread-locals at distances from
// the thread pointer that the linker has fixed, and ranks of one worker would find the same ones there. Such a rank runs
// with the thread control block of a thread that is made for it and does nothing else: libc has laid it out, with the
// thread-locals of tmpi-node, libc and all shared libraries, and takes it away again.
// docs/design/privatization.md, "A thread pointer of the rank's own".
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "base/thread_pointer.hpp"

namespace tmpi::privatize {

class OwnThreadPointer {
 public:
  /// A system call or two, and a thread that sleeps. Any thread.
  static Result<std::unique_ptr<OwnThreadPointer>> create();
  /// Nobody may run with the thread pointer any more.
  ~OwnThreadPointer();
  OwnThreadPointer(const OwnThreadPointer&) = delete;
  OwnThreadPointer& operator=(const OwnThreadPointer&) = delete;

  /// In a child of fork, where the calling flow of control becomes the thread that its thread pointer says.
  static void keep_in_child() noexcept;

  /// To be given to the rank's fiber.
  ThreadPointer& pointer() noexcept { return pointer_; }

 private:
  OwnThreadPointer() = default;
  static void* sleep(void* self) noexcept;
  void describe() noexcept;

  enum State : std::uint32_t { kStarting, kReady, kOver };
  std::atomic<std::uint32_t> state_{
      kStarting};  // a futex; release, acquire: what the thread has written before
  ThreadPointer pointer_;
  int thread_id_ = 0;  // of the sleeping thread
  pthread_t thread_{};
};

/// Why this process cannot give ranks a thread pointer; success: it can.
Result<void> can_have_thread_pointers();

}  // namespace tmpi::privatize
