// What ranks have said of signals, and what the process needs because of it (signal_state.hpp).
#include <errno.h>
#include <signal.h>

#include <mutex>
#include <new>

#include "base/no_signals.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/signal_state.hpp"

namespace tmpi::shim {
namespace {

/// What the process has of one signal.
struct Disposition {
  bool ours = false;             // the kernel's handler is dispatch()
  struct sigaction original {};  // before the first rank changed it
  bool known = false;            // original is
  int handlers = 0;              // ranks that need dispatch()
  int interrupting = 0;          // of these, without SA_RESTART
};
std::mutex change;  // with signals blocked: guards dispositions, and adding entries
Disposition dispositions[kSignals];

}  // namespace

bool is_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// The process must hear of the signal for a rank with this action. The end of a child, which the kernel would not keep
/// for the other ranks, is passed over for the rank alone.
bool needs_dispatch(int signal, const struct sigaction& action) noexcept {
  return is_handler(action) ||
         (signal == SIGCHLD && (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0));
}

// Handlers run after learn() only.
bool ignored_from_the_start(int signal) noexcept {
  return dispositions[signal].known && dispositions[signal].original.sa_handler == SIG_IGN;
}

namespace {

// Under `change`.
void learn(int signal) noexcept {
  Disposition& process = dispositions[signal];
  if (!process.known) process.known = sigaction(signal, nullptr, &process.original) == 0;
}

// Under `change`. False, with errno: the kernel refuses.
bool apply(int signal, const struct sigaction& latest) noexcept {
  Disposition& process = dispositions[signal];
  struct sigaction action = latest;
  if (process.handlers > 0) {
    action.sa_sigaction = &dispatch;
    // A system call of one rank is interrupted by a signal of another: restarted unless a rank wants it not.
    action.sa_flags = SA_SIGINFO | (process.interrupting == 0 ? SA_RESTART : 0);
    sigfillset(&action.sa_mask);
  }
  process.ours = process.handlers > 0;
  return sigaction(signal, &action, nullptr) == 0;
}

// Under `change`: the rank's action counts for the process instead of its last one.
void count(Disposition& process, Entry& entry, const struct sigaction& action) noexcept {
  const auto add = [&process, &entry](const struct sigaction& one, int by) {
    if (!needs_dispatch(entry.signal, one)) return;
    process.handlers += by;
    if (is_handler(one) && (one.sa_flags & SA_RESTART) == 0) process.interrupting += by;
  };
  add(entry.counted, -1);
  add(action, 1);
  entry.counted = action;
}

// Under `change`.
Entry* entry_for(RankSignals& signals, int signal) noexcept {
  if (Entry* entry = signals.find(signal)) return entry;
  auto* entry = new (std::nothrow) Entry(signal);
  if (entry == nullptr) return nullptr;
  // What the process has, unless that is ours: a rank starts without a handler.
  entry->action = dispositions[signal].original;
  count(dispositions[signal], *entry, entry->action);
  entry->next = signals.first.load(std::memory_order_relaxed);
  signals.first.store(entry, std::memory_order_release);
  return entry;
}

// Under `change`.
void list(RankSignals& signals, int rank) noexcept {
  if (signals.listed.exchange(true, std::memory_order_relaxed)) return;
  signals.rank = rank;
  signals.next = all_ranks.load(std::memory_order_relaxed);
  all_ranks.store(&signals, std::memory_order_release);
}

}  // namespace

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" int tmpi_shim_is_shared_signal(int signal) {
  // Those by which the process itself says how it ends are the crash report's.
  return signal <= 0 || signal >= kSignals || signal == SIGABRT || signal == SIGKILL || signal == SIGSTOP ||
                 signal == SIGSYS || signal == SIGTRAP || (signal >= 32 && signal < SIGRTMIN)
             ? 1
             : 0;
}

extern "C" int tmpi_shim_signal_action(int rank, int signal, const struct sigaction* action,
                                       struct sigaction* previous) {
  const struct sigaction wanted = action != nullptr ? *action : (struct sigaction){};
  struct sigaction before {};
  bool fine = false;
  {
    const tmpi::NoSignals no_signals;
    const std::lock_guard guard(change);
    Disposition& process = dispositions[signal];
    learn(signal);
    RankSignals* const signals = rank_signals.get(rank);
    Entry* entry = signals != nullptr ? signals->find(signal) : nullptr;
    if (action == nullptr) {
      before = entry != nullptr ? entry->action : process.original;
      fine = true;
    } else if (signals == nullptr || (entry = entry_for(*signals, signal)) == nullptr) {
      errno = ENOMEM;
    } else {
      list(*signals, rank);
      before = entry->action;
      entry->lock.lock();
      entry->action = wanted;
      entry->lock.unlock();
      count(process, *entry, wanted);
      fine = apply(signal, wanted);
    }
  }
  if (fine && previous != nullptr) *previous = before;
  return fine ? 0 : -1;
}

extern "C" int tmpi_shim_child_signal_action(int rank, int signal, const struct sigaction* action,
                                             struct sigaction* previous) {
  struct sigaction before {};
  if (sigaction(signal, action, &before) != 0) return -1;
  const RankSignals* const signals = rank_signals.find(rank);
  const Entry* const entry = signals != nullptr ? signals->find(signal) : nullptr;
  if (before.sa_sigaction == &dispatch && entry != nullptr) before = entry->action;
  if (previous != nullptr) *previous = before;
  return 0;
}
