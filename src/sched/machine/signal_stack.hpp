// SignalStack: the calling thread's alternate signal stack while the object lives, so that a handler can run
// when a fiber's own stack has overflowed. Created and destroyed by the same thread.
#pragma once

#include <signal.h>

#include <cstddef>
#include <memory>

namespace tmpi::sched {

class SignalStack {
 public:
  SignalStack() : memory_(new std::byte[kSize]) {  // not cleared: pages are touched when a handler runs
    stack_t mine{};
    mine.ss_sp = memory_.get();
    mine.ss_size = kSize;
    installed_ = sigaltstack(&mine, &before_) == 0;
  }
  ~SignalStack() {
    if (installed_) sigaltstack(&before_, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kSize = 256 * 1024;  // symbolizing a backtrace needs room
  std::unique_ptr<std::byte[]> memory_;
  stack_t before_{};
  bool installed_ = false;
};

}  // namespace tmpi::sched
