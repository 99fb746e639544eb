// Signal masks of ranks (privatize/rank_signal_mask.hpp).
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "privatize/loader.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/rank_signal_mask.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/switch_duties.hpp"

namespace tmpi::shim {
namespace {

constexpr int kMostPending =
    16;  // of one rank; more are lost, as signals of the same number are in the kernel

/// What a rank blocks. Made when it first says something, used by the thread that runs it.
struct Blocked {
  bool any = false;  // other signals than a worker blocks without it
  sigset_t mask{};   // while it does not run
  int pending_count = 0;
  siginfo_t pending[kMostPending];
};
privatize::RankTable<std::atomic<Blocked*>> table;  // relaxed: the rank's own threads

sigset_t of_workers;                           // what they block when no rank says anything
std::atomic<bool> of_workers_is_known{false};  // release by who has set it, acquire

Blocked* blocked_by(int rank) noexcept {
  const std::atomic<Blocked*>* const slot = table.find(rank);
  return slot == nullptr ? nullptr : slot->load(std::memory_order_relaxed);
}

Blocked* make_blocked(int rank) noexcept {
  std::atomic<Blocked*>* const slot = table.get(rank);
  if (slot == nullptr) return nullptr;
  if (slot->load(std::memory_order_relaxed) == nullptr)
    slot->store(new (std::nothrow) Blocked, std::memory_order_relaxed);
  return slot->load(std::memory_order_relaxed);
}

bool same(const sigset_t& one, const sigset_t& other) noexcept {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&one, signal) != sigismember(&other, signal)) return false;
  }
  return true;
}

/// What is pending for the thread that the rank leaves would reach whom it runs next. Both block it still.
void take_pending(Blocked& own) noexcept {
  sigset_t pending;
  if (sigpending(&pending) != 0) return;
  sigset_t own_only;
  sigandset(&own_only, &pending, &own.mask);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&of_workers, signal) == 1) sigdelset(&own_only, signal);
  }
  constexpr timespec kNow{0, 0};
  while (!sigisemptyset(&own_only) && own.pending_count < kMostPending) {
    siginfo_t& info = own.pending[own.pending_count];
    memset(&info, 0, sizeof info);
    // libc's function hides that a signal was sent to the thread.
    if (syscall(SYS_rt_sigtimedwait, &own_only, &info, &kNow, _NSIG / 8) <= 0) return;
    ++own.pending_count;
  }
}

/// They are pending again, for the calling thread, which blocks what the rank blocks.
void give_pending(Blocked& own) noexcept {
  for (int i = 0; i < own.pending_count; ++i) {
    siginfo_t& info = own.pending[i];
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), info.si_signo, &info);
  }
  own.pending_count = 0;
}

}  // namespace
}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

void switch_signal_mask(int from, int to) noexcept {
  Blocked* const left = blocked_by(from);
  Blocked* const entered = blocked_by(to);
  const bool leaves = left != nullptr && left->any;
  const bool enters = entered != nullptr && entered->any;
  if (from == to || (!leaves && !enters)) return;
  const int error = errno;
  if (leaves) {
    pthread_sigmask(SIG_BLOCK, nullptr, &left->mask);  // a handler, or siglongjmp, may have changed it
    left->any = !same(left->mask, of_workers);
    if (left->any) take_pending(*left);
  }
  pthread_sigmask(SIG_SETMASK, enters ? &entered->mask : &of_workers, nullptr);
  if (enters) give_pending(*entered);
  errno = error;
}

void forget_signal_mask(int rank) noexcept {
  Blocked* const own = blocked_by(rank);
  if (own == nullptr) return;
  if (own->any) pthread_sigmask(SIG_SETMASK, &of_workers, nullptr);
  table.find(rank)->store(nullptr, std::memory_order_relaxed);
  delete own;
}

}  // namespace tmpi::privatize

using namespace tmpi::shim;

extern "C" int tmpi_shim_sigmask(int rank, int how, const sigset_t* set, sigset_t* previous) {
  if (set == nullptr || tmpi_on_helper_thread() != 0 || tmpi::privatize::in_forked_child())
    return pthread_sigmask(how, set, previous);
  Blocked* const own = make_blocked(rank);
  if (own == nullptr) return ENOMEM;
  sigset_t before;
  const int error = pthread_sigmask(how, set, &before);
  if (error != 0) return error;
  if (!own->any && !of_workers_is_known.load(std::memory_order_acquire)) {
    // Whoever comes here first finds what no rank has changed yet; several find the same.
    of_workers = before;
    of_workers_is_known.store(true, std::memory_order_release);
  }
  pthread_sigmask(SIG_BLOCK, nullptr, &own->mask);
  own->any = !same(own->mask, of_workers);
  if (own->any) tmpi::privatize::demand(tmpi::privatize::kSwitchSignalMask);
  if (previous != nullptr) *previous = before;
  tmpi::privatize::deliver_signals(rank);  // what has been kept while it was blocked
  return 0;
}

extern "C" unsigned tmpi_shim_signals_delivered(int rank) {
  return tmpi::privatize::signals_delivered(rank);
}
