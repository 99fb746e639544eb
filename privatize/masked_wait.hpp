// MaskedWait: how a rank waits with another signal mask meanwhile (ppoll, pselect, epoll_pwait, sigsuspend). Its signals
// come to the thread that runs it, so that no other thread can wait for it: it looks itself, now and then, with the
// others of its worker in between.
#pragma once

#include <signal.h>

#include <cstdint>

namespace tmpi::privatize {

class MaskedWait {
 public:
  /// The calling rank's own flow has `mask` from now on. `nanoseconds`: kNoDeadline waits for ever.
  MaskedWait(const sigset_t& mask, std::uint64_t nanoseconds, const char* call) noexcept;
  ~MaskedWait();
  MaskedWait(const MaskedWait&) = delete;
  MaskedWait& operator=(const MaskedWait&) = delete;

  /// Lets others run for a while, where may_offload(). False: a handler of the rank has run, or the time is over. SUSPENDS.
  bool again() noexcept;
  /// What the call returns that has seen `ready`: that, or -1 and EINTR, or 0.
  int result(int ready) const noexcept;

 private:
  const int rank_;
  const char* const call_;
  const std::uint32_t delivered_;
  std::uint64_t end_;
  std::uint64_t rest_;
  sigset_t before_;
};

/// Waits until `look`, which does not, returns something else than 0. SUSPENDS.
template <class Look>
int wait_masked(const sigset_t& mask, std::uint64_t nanoseconds, const char* call,
                const Look& look) noexcept {
  MaskedWait wait(mask, nanoseconds, call);
  int ready = 0;
  while ((ready = look()) == 0 && wait.again()) continue;
  return wait.result(ready);
}

}  // namespace tmpi::privatize
