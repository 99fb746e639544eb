// One handler per process becomes one per rank (privatize/rank_signals.hpp).
#include "privatize/rank_signals.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>

#include "base/no_signals.hpp"
#include "base/own_signals.hpp"
#include "base/spinlock.hpp"
#include "privatize/children.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/rank_timers.hpp"

namespace tmpi::shim {
namespace {

constexpr int kSignals = 65;  // 1 to 64

privatize::SignalHooks the_hooks{};

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

privatize::RankTable<RankSignals> table;
std::atomic<RankSignals*> all_ranks{nullptr};

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

// initial-exec: read and written in handlers.
__attribute__((tls_model("initial-exec"))) constinit thread_local std::uint32_t for_others = 0;

// By this signal a process tells a rank of another one, a child its parent, and a rank itself, of a signal for one rank.
// A real-time one, since of others the kernel keeps one of a number, for whomever it was.
int signal_for_rank() noexcept {
  return number_of(OwnSignal::kForRank);
}
constexpr int kForRank = -0x746d00;  // added to si_code, which the kernel wants negative
constexpr int kSignalBits = 7;       // of si_errno: the signal; above: the rank

constexpr int kTold = 0;  // its address: this signal only says that something has been kept

bool is_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// The process must hear of the signal for a rank with this action. The end of a child, which the kernel would not keep
/// for the other ranks, is passed over for the rank alone.
bool needs_dispatch(int signal, const struct sigaction& action) noexcept {
  return is_handler(action) ||
         (signal == SIGCHLD && (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0));
}

bool ignored_by_default(int signal) noexcept {
  return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

/// The signal was ignored when the process started, and no rank has said anything else of it for all.
bool ignored_from_the_start(int signal) noexcept;

/// A rank of this node process gets the signal.
void signal_rank(int rank, const siginfo_t& info) noexcept;

/// The process ends as one without handlers would.
void do_default(int signal) noexcept {
  if (ignored_by_default(signal)) return;
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

/// Calls the rank's handler. All signals are blocked; the handler runs with `mask` and what its action adds.
bool call(RankSignals& signals, Entry& entry, siginfo_t* info, void* context, const sigset_t& mask) noexcept {
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

/// Tells the rank's thread to look: if the rank runs there, that is the only way to interrupt it. A signal of that
/// number that is pending there swallows this one: so every one looks (dispatch()).
void tell(int rank, int signal) noexcept {
  if (the_hooks.interrupt == nullptr) return;
  the_hooks.interrupt(rank);
  const int thread = the_hooks.thread_of(rank);
  if (thread == 0 || thread == gettid()) return;
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = const_cast<int*>(&kTold);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info);
}

/// All signals are blocked.
void keep(RankSignals& signals, Entry& entry, const siginfo_t& info) noexcept {
  entry.lock.lock();
  entry.kept = true;
  entry.info = info;
  entry.lock.unlock();
  signals.kept.fetch_or(std::uint64_t{1} << (entry.signal - 1), std::memory_order_release);
  tell(signals.rank, entry.signal);
}

/// All signals are blocked, and were as `mask` says before.
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
    if (kept && call(signals, entry, &info, context, mask)) any = true;
  }
  return any;
}

bool is_of_this_thread(int signal, const siginfo_t& info) noexcept {
  return info.si_code == SI_TKILL || signal == SIGPIPE;
}

privatize::ChildWishes child_wishes(int rank) noexcept {
  RankSignals* const signals = table.find(rank);
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
    RankSignals* const signals = table.find(change.rank);
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

/// The kernel's handler; all signals are blocked.
void dispatch(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const sigset_t mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  const int here = privatize::running_rank();
  RankSignals* const mine = table.find(here);
  const std::uint32_t before = mine != nullptr ? mine->delivered.load(std::memory_order_relaxed) : 0;
  const auto serve = [&](RankSignals& signals, const siginfo_t& what) {
    Entry* const entry = signals.find(signal);
    if (entry == nullptr || signals.ended.load(std::memory_order_relaxed)) return;
    siginfo_t copy = what;
    if (&signals == mine && !mine->deferred.load(std::memory_order_relaxed)) {
      call(signals, *entry, &copy, context, mask);
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
    } else if (RankSignals* signals = table.find(rank);
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
  if (mine == nullptr || mine->delivered.load(std::memory_order_relaxed) == before) ++for_others;
  errno = error;
}

/// The kernel's handler for signal_for_rank(); all signals are blocked. What the thread blocks waits.
void dispatch_for_rank(int, siginfo_t* info, void* context) {
  if (info->si_code < kForRank + SI_QUEUE || info->si_code > kForRank + CLD_CONTINUED) return;
  const int error = errno;
  siginfo_t seen = *info;
  seen.si_code -= kForRank;
  seen.si_signo = info->si_errno & ((1 << kSignalBits) - 1);
  seen.si_errno = 0;
  signal_rank(info->si_errno >> kSignalBits, seen);
  RankSignals* const mine = table.find(privatize::running_rank());
  const bool any = mine != nullptr && !mine->deferred.load(std::memory_order_relaxed) &&
                   deliver(*mine, static_cast<const ucontext_t*>(context)->uc_sigmask, context);
  if (!any) ++for_others;
  errno = error;
}

// In handlers, which run only after learn().
bool ignored_from_the_start(int signal) noexcept {
  return dispositions[signal].known && dispositions[signal].original.sa_handler == SIG_IGN;
}

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

void signal_rank(int rank, const siginfo_t& info) noexcept {
  const int signal = info.si_signo;
  RankSignals* const signals = table.find(rank);
  if (signals != nullptr && signals->ended.load(std::memory_order_relaxed)) return;
  if (Entry* const entry = signals == nullptr ? nullptr : signals->find(signal)) {
    const NoSignals no_signals;
    keep(*signals, *entry, info);
    return;
  }
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_IGN && !ignored_from_the_start(signal)) do_default(signal);
}

siginfo_t marked_for(int rank, const siginfo_t& info) noexcept {
  siginfo_t marked = info;
  marked.si_code += kForRank;
  marked.si_errno = rank << kSignalBits | info.si_signo;
  return marked;
}

/// The calling rank gets the signal before this returns, unless it blocks it.
int signal_here(const siginfo_t& info) noexcept {
  siginfo_t marked = marked_for(privatize::running_rank(), info);
  return static_cast<int>(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal_for_rank(), &marked));
}

/// kill() and sigqueue(), `info` as the handler is to see it.
int send_to(pid_t process, const siginfo_t& info) noexcept {
  const int signal = info.si_signo;
  const int rank = privatize::world_rank_of_pid(process);
  const pid_t target = privatize::kernel_pid(process);
  const bool here = getpid() == privatize::node_process();
  // With --pid node the process's id means the rank that uses it, too.
  const bool own = here && rank < 0 && process == privatize::pid_of_rank(privatize::running_rank());
  if (own || (here && rank >= 0 && rank == privatize::running_rank())) {
    if (info.si_code == SI_QUEUE) return signal_here(info);
    const int error = pthread_kill(pthread_self(), signal);
    if (error == 0) return 0;
    errno = error;
    return -1;
  }
  const bool for_all =
      signal == 0 || tmpi_shim_is_fault(signal) != 0 || tmpi_shim_is_shared_signal(signal) != 0;
  if (rank < 0 || for_all) {
    // A group that a rank leads by its own id is the node process's.
    const pid_t group = process < -1 ? privatize::kernel_pid(-process) : 0;
    return info.si_code == SI_USER ? kill(group != 0 ? -group : target, signal)
                                   : sigqueue(target, signal, info.si_value);
  }
  if (here && target == privatize::node_process()) {
    signal_rank(rank, info);
    return 0;
  }
  siginfo_t marked = marked_for(rank, info);
  return static_cast<int>(syscall(SYS_rt_sigqueueinfo, target, signal_for_rank(), &marked));
}

/// What the receiver is told of the calling rank, or child of one.
siginfo_t info_of(int signal, int code) noexcept {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = code;
  const bool here = getpid() == privatize::node_process() && privatize::running_rank() >= 0;
  info.si_pid = here ? privatize::pid_of_rank(privatize::running_rank()) : getpid();
  info.si_uid = getuid();
  return info;
}

}  // namespace

}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

bool is_stack_overflow(int signal, const siginfo_t& info, const void* context) noexcept {
  return the_hooks.is_stack_overflow != nullptr && the_hooks.is_stack_overflow(signal, info, context);
}

void set_signal_hooks(const SignalHooks& hooks) noexcept {
  the_hooks = hooks;
  struct sigaction action {};
  action.sa_sigaction = &dispatch_for_rank;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(signal_for_rank(), &action, nullptr);
}

int thread_of_rank(int rank) noexcept {
  const int thread = the_hooks.thread_of == nullptr ? 0 : the_hooks.thread_of(rank);
  return thread != 0 ? thread : gettid();
}

bool deliver_signals(int rank) noexcept {
  RankSignals* const signals = table.find(rank);
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
  RankSignals* const signals = table.find(rank);
  const void* const frame =
      signals == nullptr ? nullptr : signals->handler_frame.load(std::memory_order_relaxed);
  if (frame == nullptr) return false;
  if (__builtin_frame_address(0) < frame) return true;
  signals->handler_frame.store(nullptr, std::memory_order_relaxed);  // left by longjmp
  return false;
}

std::uint32_t signals_delivered(int rank) noexcept {
  RankSignals* const signals = table.find(rank);
  return signals == nullptr ? 0 : signals->delivered.load(std::memory_order_relaxed);
}

std::uint32_t signals_interrupting(int rank) noexcept {
  RankSignals* const signals = table.find(rank);
  return signals == nullptr ? 0 : signals->interrupting.load(std::memory_order_relaxed);
}

bool has_signals(int rank) noexcept {
  RankSignals* const signals = table.find(rank);
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
        RankSignals* const signals = table.find(rank);
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
  const RankSignals* const signals = table.find(rank);
  return signals != nullptr && signals->deferred.load(std::memory_order_relaxed);
}

std::uint32_t signals_of_others() noexcept {
  return for_others;
}

void tell_of_children() noexcept {
  RankSignals* const mine = table.find(running_rank());
  siginfo_t own{};
  bool any;
  {
    const NoSignals no_signals;
    any = keep_for_parents(mine, own);
  }
  if (any) signal_here(own);
}

void end_signals(int rank) noexcept {
  delete_timers(rank);
  if (RankSignals* const signals = table.find(rank)) signals->ended.store(true, std::memory_order_relaxed);
}

}  // namespace tmpi::privatize

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
    RankSignals* const signals = table.get(rank);
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
  const RankSignals* const signals = table.find(rank);
  const Entry* const entry = signals != nullptr ? signals->find(signal) : nullptr;
  if (before.sa_sigaction == &dispatch && entry != nullptr) before = entry->action;
  if (previous != nullptr) *previous = before;
  return 0;
}

extern "C" int tmpi_shim_kill(pid_t process, int signal) {
  return send_to(process, info_of(signal, SI_USER));
}

extern "C" int tmpi_shim_sigqueue(pid_t process, int signal, union sigval value) {
  siginfo_t info = info_of(signal, SI_QUEUE);
  info.si_value = value;
  return send_to(process, info);
}

extern "C" void tmpi_shim_add_child(int rank, pid_t child) {
  tmpi::privatize::add_child(rank, child);
}
