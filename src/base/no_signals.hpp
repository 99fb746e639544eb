// NoSignals: a thread's time without signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace tmpi {

/// While it lives the calling thread takes no signals, so that no handler, which may call what the thread is in the
/// middle of, needs what it holds; and threads that it makes meanwhile never take one. A signal that comes is taken
/// at the end, by this thread or by another. Does not suspend.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  /// The signals that were blocked anyway.
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace tmpi
