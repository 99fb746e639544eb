// One handler per process becomes one per rank: what has been kept for a rank, and its delivery (signal_state.hpp).
#include "privatize/rank_signals.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/no_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/shim/host/rank_timers.hpp"
#include "privatize/shim/host/signal_state.hpp"

namespace tmpi::shim {

privatize::SignalHooks signal_hooks{};
privatize::RankTable<RankSignals> rank_signals;
std::atomic<RankSignals*> all_ranks{nullptr};

namespace {

bool ignored_by_default(int signal) noexcept {
  return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

/// Tells the rank's thread to look: if the rank runs there, that is the only way to interrupt it. A signal of that
/// number that is pending there swallows this one: so every one looks (dispatch()).
void tell(int rank, int signal) noexcept {
  if (signal_hooks.interrupt == nullptr) return;
  signal_hooks.interrupt(rank);
  const int thread = signal_hooks.thread_of(rank);
  if (thread == 0 || thread == gettid()) return;
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = const_cast<int*>(&kTold);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info);
}

}  // namespace

void do_default(int signal) noexcept {
  if (ignored_by_default(signal)) return;
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

bool call_handler(RankSignals& signals, Entry& entry, siginfo_t* info, void* context,
                  const sigset_t& mask) noexcept {
  struct sigaction action {};
  {
    entry.lock.lock();
    action = entry.action;
    if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0 && is_handler(action))
      entry.action.sa_handler = SIG_DFL;
    entry.lock.unlock();
  }
  if (action.sa_handler == SIG_IGN) return false;
  if (action.sa_handler == SIG_DFL) {
    do_default(entry.signal);
    return false;
  }
  signals.delivered.fetch_add(1, std::memory_order_relaxed);
  if ((action.sa_flags & SA_RESTART) == 0) signals.interrupting.fetch_add(1, std::memory_order_relaxed);
  sigset_t during = mask;
  for (int signal = 1; signal < kSignals; ++signal) {
    if (sigismember(&action.sa_mask, signal) == 1) sigaddset(&during, signal);
  }
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&during, entry.signal);
  const void* const outer =
      signals.handler_frame.exchange(__builtin_frame_address(0), std::memory_order_relaxed);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, &during, &blocked);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(entry.signal, info, context);
  } else {
    action.sa_handler(entry.signal);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  signals.handler_frame.store(outer, std::memory_order_relaxed);
  return true;
}

void keep(RankSignals& signals, Entry& entry, const siginfo_t& info) noexcept {
  entry.lock.lock();
  entry.kept = true;
  entry.info = info;
  entry.lock.unlock();
  signals.kept.fetch_or(std::uint64_t{1} << (entry.signal - 1), std::memory_order_release);
  tell(signals.rank, entry.signal);
}

bool deliver(RankSignals& signals, const sigset_t& mask, void* context) noexcept {
  bool any = false;
  // acquire pairs with keep().
  for (std::uint64_t left = signals.kept.load(std::memory_order_acquire); left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    if (sigismember(&mask, signal) == 1 || signals.ended.load(std::memory_order_relaxed)) continue;
    const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
    if ((signals.kept.fetch_and(~bit, std::memory_order_acq_rel) & bit) == 0) continue;
    Entry& entry = *signals.find(signal);
    entry.lock.lock();
    siginfo_t info = entry.info;
    const bool kept = entry.kept;
    entry.kept = false;
    entry.lock.unlock();
    if (kept && call_handler(signals, entry, &info, context, mask)) any = true;
  }
  return any;
}

}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

bool is_stack_overflow(int signal, const siginfo_t& info, const void* context) noexcept {
  return signal_hooks.is_stack_overflow != nullptr && signal_hooks.is_stack_overflow(signal, info, context);
}

void set_signal_hooks(const SignalHooks& hooks) noexcept {
  signal_hooks = hooks;
  receive_sent_signals();
}

int thread_of_rank(int rank) noexcept {
  const int thread = signal_hooks.thread_of == nullptr ? 0 : signal_hooks.thread_of(rank);
  return thread != 0 ? thread : gettid();
}

bool deliver_signals(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  // relaxed: deliver() looks again.
  if (signals == nullptr || signals->kept.load(std::memory_order_relaxed) == 0) return false;
  const int error = errno;
  ucontext_t context;
  getcontext(&context);
  bool any;
  {
    const NoSignals no_signals;
    any = deliver(*signals, no_signals.before(), &context);
  }
  errno = error;
  return any;
}

bool in_signal_handler(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  const void* const frame =
      signals == nullptr ? nullptr : signals->handler_frame.load(std::memory_order_relaxed);
  if (frame == nullptr) return false;
  if (__builtin_frame_address(0) < frame) return true;
  signals->handler_frame.store(nullptr, std::memory_order_relaxed);  // left by longjmp
  return false;
}

std::uint32_t signals_delivered(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  return signals == nullptr ? 0 : signals->delivered.load(std::memory_order_relaxed);
}

std::uint32_t signals_interrupting(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  return signals == nullptr ? 0 : signals->interrupting.load(std::memory_order_relaxed);
}

bool has_signals(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  std::uint64_t kept = signals == nullptr ? 0 : signals->kept.load(std::memory_order_relaxed);
  if (kept == 0) return false;
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (; kept != 0; kept &= kept - 1) {
    if (sigismember(&blocked, __builtin_ctzll(kept) + 1) == 0) return true;
  }
  return false;
}

DeferredSignals::DeferredSignals(int rank) noexcept
    : deferred_([rank]() -> std::atomic<bool>* {
        RankSignals* const signals = rank_signals.find(rank);
        return signals == nullptr ? nullptr : &signals->deferred;
      }()) {
  if (deferred_ == nullptr) return;
  deferred_->store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // for a handler on this thread
}

DeferredSignals::~DeferredSignals() {
  if (deferred_ == nullptr) return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  deferred_->store(false, std::memory_order_relaxed);
}

bool signals_deferred(int rank) noexcept {
  const RankSignals* const signals = rank_signals.find(rank);
  return signals != nullptr && signals->deferred.load(std::memory_order_relaxed);
}

void end_signals(int rank) noexcept {
  delete_timers(rank);
  if (RankSignals* const signals = rank_signals.find(rank))
    signals->ended.store(true, std::memory_order_relaxed);
}

}  // namespace tmpi::privatize
