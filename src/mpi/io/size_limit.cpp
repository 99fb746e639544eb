#include "mpi/io/size_limit.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <ctime>

namespace tmpi::mpi {
namespace {

bool limited() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

sigset_t the_signal() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

// The kernel sends it to the thread that has made the call.
SizeLimit::SizeLimit() noexcept {
  if (!limited()) return;
  const sigset_t set = the_signal();
  blocks_ = pthread_sigmask(SIG_BLOCK, &set, &before_) == 0 && sigismember(&before_, SIGXFSZ) == 0;
}

SizeLimit::~SizeLimit() {
  if (!blocks_) return;
  const sigset_t set = the_signal();
  const timespec at_once{};
  while (sigtimedwait(&set, nullptr, &at_once) == SIGXFSZ) {
  }
  (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tmpi::mpi
