// The kernel's handler of the process: for which ranks a signal is (signal_state.hpp).
#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "base/no_signals.hpp"
#include "privatize/children.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/rank_timers.hpp"
#include "privatize/shim/host/signal_state.hpp"

namespace tmpi::shim {
namespace {

// initial-exec: read and written in handlers.
__attribute__((tls_model("initial-exec"))) constinit thread_local std::uint32_t for_others = 0;

bool is_of_this_thread(int signal, const siginfo_t& info) noexcept {
  return info.si_code == SI_TKILL || signal == SIGPIPE;
}

privatize::ChildWishes child_wishes(int rank) noexcept {
  RankSignals* const signals = rank_signals.find(rank);
  Entry* const entry = signals == nullptr ? nullptr : signals->find(SIGCHLD);
  if (entry == nullptr || signals->ended.load(std::memory_order_relaxed)) return {};
  entry->lock.lock();
  const struct sigaction action = entry->action;
  entry->lock.unlock();
  const bool collected = action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0;
  return {.wanted = needs_dispatch(SIGCHLD, action),
          .ends_only = (action.sa_flags & SA_NOCLDSTOP) != 0,
          .collected = collected};
}

/// SIGCHLD for the ranks whose children have changed. That of `mine`, whose handler may be left by longjmp, is
/// returned: several that come at once are one, as ever.
bool keep_for_parents(const RankSignals* mine, siginfo_t& own) noexcept {
  bool any = false;
  for (privatize::ChildChange change{}; privatize::next_change(&child_wishes, change);) {
    RankSignals* const signals = rank_signals.find(change.rank);
    if (signals == mine) {
      own = change.info;
      any = true;
    } else {
      keep(*signals, *signals->find(SIGCHLD), change.info);
    }
  }
  return any;
}

bool is_of_a_child(int signal, const siginfo_t& info) noexcept {
  return signal == SIGCHLD && info.si_code >= CLD_EXITED && info.si_code <= CLD_CONTINUED;
}

}  // namespace

void dispatch(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const sigset_t mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  const int here = privatize::running_rank();
  RankSignals* const mine = rank_signals.find(here);
  const std::uint32_t before = mine != nullptr ? mine->delivered.load(std::memory_order_relaxed) : 0;
  const auto serve = [&](RankSignals& signals, const siginfo_t& what) {
    Entry* const entry = signals.find(signal);
    if (entry == nullptr || signals.ended.load(std::memory_order_relaxed)) return;
    siginfo_t copy = what;
    if (&signals == mine && !mine->deferred.load(std::memory_order_relaxed)) {
      call_handler(signals, *entry, &copy, context, mask);
    } else {
      keep(signals, *entry, copy);
    }
  };
  siginfo_t seen = *info;
  if (info->si_code == SI_TKILL && info->si_pid == privatize::node_process() && here >= 0)
    seen.si_pid = privatize::pid_of_rank(here);
  const bool own = is_of_this_thread(signal, *info) || privatize::in_forked_child();
  if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &kTold) {
    // What has been kept is delivered below.
  } else if (const int rank = rank_of_timer(seen); rank != kNoTimer) {
    if (rank == kDeletedTimer) {
      // It came too late: nobody wants it any more.
    } else if (RankSignals* signals = rank_signals.find(rank);
               signals != nullptr && signals->find(signal) != nullptr) {
      serve(*signals, seen);
    } else if (!ignored_from_the_start(signal)) {
      do_default(signal);  // it has a timer, and no handler
    }
  } else if (is_of_a_child(signal, *info) && !privatize::in_forked_child()) {
    if (keep_for_parents(mine, seen)) serve(*mine, seen);
  } else if (own && mine != nullptr && mine->find(signal) != nullptr) {
    serve(*mine, seen);
  } else if (own && (signal == SIGPIPE || privatize::in_forked_child())) {
    if (!ignored_from_the_start(signal)) do_default(signal);
  } else {
    // Also what a thread has sent to this one while the rank it meant does not run: whose it is cannot be told.
    bool anybody = false;
    // acquire pairs with list().
    for (RankSignals* signals = all_ranks.load(std::memory_order_acquire); signals != nullptr;
         signals = signals->next) {
      Entry* const entry = signals->find(signal);
      if (entry == nullptr) continue;
      entry->lock.lock();
      const bool wanted = is_handler(entry->action);
      entry->lock.unlock();
      if (!wanted) continue;
      anybody = true;
      serve(*signals, seen);
    }
    if (own && !anybody && !ignored_from_the_start(signal)) do_default(signal);
  }
  if (mine != nullptr && !mine->deferred.load(std::memory_order_relaxed)) deliver(*mine, mask, context);
  if (mine == nullptr || mine->delivered.load(std::memory_order_relaxed) == before) count_for_others();
  errno = error;
}

void count_for_others() noexcept {
  ++for_others;
}

}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

std::uint32_t signals_of_others() noexcept {
  return for_others;
}

void tell_of_children() noexcept {
  RankSignals* const mine = rank_signals.find(running_rank());
  siginfo_t own{};
  bool any;
  {
    const NoSignals no_signals;
    any = keep_for_parents(mine, own);
  }
  if (any) signal_here(own);
}

}  // namespace tmpi::privatize

extern "C" void tmpi_shim_add_child(int rank, pid_t child) {
  tmpi::privatize::add_child(rank, child);
}
