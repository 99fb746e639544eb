// Undisturbed: while it lives the calling thread takes no signals, so that no handler, which may call what we
// are in the middle of, needs what we hold.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace tmpi::shim {

class Undisturbed {
 public:
  Undisturbed() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  /// The signals that were blocked anyway.
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace tmpi::shim
