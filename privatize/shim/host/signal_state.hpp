// What ranks have said of signals, and what has been kept for them: what the files of this folder that have to do with
// signals share (privatize/rank_signals.hpp). rank_signals.cpp keeps and delivers, signal_actions.cpp sets handlers,
// signal_dispatch.cpp is the kernel's handler, sent_signals.cpp sends.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "base/spinlock.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_table.hpp"

namespace tmpi::shim {

inline constexpr int kSignals = 65;  // 1 to 64

/// What a rank has said of one signal, and what has been kept for it. Never freed: handlers look at it.
struct Entry {
  explicit Entry(int number) noexcept : signal(number) {}
  const int signal;
  SpinLock lock;  // with signals blocked: guards action, kept, info
  struct sigaction action {};
  bool kept = false;
  siginfo_t info{};
  struct sigaction counted {};  // under `change`: as the process's disposition knows it
  Entry* next = nullptr;
};

struct RankSignals {
  std::atomic<Entry*> first{nullptr};  // release by who adds one, acquire
  std::atomic<std::uint64_t> kept{0};  // bits of entries; release, acquire: their info is seen
  std::atomic<std::uint32_t> delivered{0};
  std::atomic<std::uint32_t> interrupting{0};       // of these, without SA_RESTART
  std::atomic<const void*> handler_frame{nullptr};  // of the innermost handler that runs; relaxed
  std::atomic<bool> ended{false};
  std::atomic<bool> deferred{false};  // written by the rank's flow, read in handlers on its thread; relaxed
  std::atomic<bool> listed{false};
  int rank = -1;
  RankSignals* next = nullptr;  // of all that have ever had a handler

  Entry* find(int signal) const noexcept {
    for (Entry* entry = first.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
      if (entry->signal == signal) return entry;
    }
    return nullptr;
  }
};

/// Of each rank; and a list of those that have ever had a handler, release by who adds one, acquire.
extern privatize::RankTable<RankSignals> rank_signals;
extern std::atomic<RankSignals*> all_ranks;

/// As launch has registered them.
extern privatize::SignalHooks signal_hooks;

inline constexpr int kTold = 0;  // its address: this signal only says that something has been kept

/// It is a function.
bool is_handler(const struct sigaction& action) noexcept;
/// The process must hear of the signal for a rank with this action.
bool needs_dispatch(int signal, const struct sigaction& action) noexcept;

/// Keeps the signal for the rank and tells its thread and the scheduler. All signals are blocked.
void keep(RankSignals& signals, Entry& entry, const siginfo_t& info) noexcept;
/// Runs handlers for what has been kept, on the rank's own flow. All signals are blocked, and were as `mask` says before.
bool deliver(RankSignals& signals, const sigset_t& mask, void* context) noexcept;
/// Calls the rank's handler. All signals are blocked; the handler runs with `mask` and what its action adds.
bool call_handler(RankSignals& signals, Entry& entry, siginfo_t* info, void* context,
                  const sigset_t& mask) noexcept;
/// The process ends as one without handlers would.
void do_default(int signal) noexcept;

/// The signal was ignored when the process started, and no rank has said anything else of it for all. In handlers.
bool ignored_from_the_start(int signal) noexcept;

/// The kernel's handler for the signals that ranks handle; all signals are blocked.
void dispatch(int signal, siginfo_t* info, void* context);
/// A signal has interrupted the calling thread that was not for the rank that runs there.
void count_for_others() noexcept;

/// A rank of this node process gets the signal.
void signal_rank(int rank, const siginfo_t& info) noexcept;
/// The calling rank gets the signal before this returns, unless it blocks it.
int signal_here(const siginfo_t& info) noexcept;
/// Sets the kernel's handler of the signal by which ranks are told of signals for one rank.
void receive_sent_signals() noexcept;

}  // namespace tmpi::shim
