// Signals that ranks, and children of theirs, send to ranks: kill, sigqueue, raise (signal_state.hpp).
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/no_signals.hpp"
#include "base/own_signals.hpp"
#include "privatize/descriptor_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/notices.hpp"
#include "privatize/shim/host/signal_state.hpp"

namespace tmpi::shim {
namespace {

// By this signal a process tells a rank of another one, a child its parent, and a rank itself, of a signal for one rank;
// and so do the kernel and libc, of descriptors and requests of ranks (descriptor_signals.hpp, notices.hpp).
// A real-time one, since of others the kernel keeps one of a number, for whomever it was.
int signal_for_rank() noexcept {
  return number_of(OwnSignal::kForRank);
}
constexpr int kForRank = -0x746d00;  // added to si_code, which the kernel wants negative
constexpr int kSignalBits = 7;       // of si_errno: the signal; above: the rank

/// The rank that a signal of that number is for, and `info` as the rank is to see it; -1: nobody.
int receiver_of(siginfo_t& info) noexcept {
  if (const int rank = privatize::rank_of_descriptor_signal(info); rank >= 0) return rank;
  if (const int rank = rank_of_notice(info); rank >= 0) return rank;
  if (info.si_code < kForRank + SI_QUEUE || info.si_code > kForRank + CLD_CONTINUED) return -1;
  const int rank = info.si_errno >> kSignalBits;
  info.si_code -= kForRank;
  info.si_signo = info.si_errno & ((1 << kSignalBits) - 1);
  info.si_errno = 0;
  return rank;
}

/// The kernel's handler for signal_for_rank(); all signals are blocked. What the thread blocks waits.
void dispatch_for_rank(int, siginfo_t* info, void* context) {
  const int error = errno;
  siginfo_t seen = *info;
  const int receiver = receiver_of(seen);
  if (receiver < 0) return;
  signal_rank(receiver, seen);
  RankSignals* const mine = rank_signals.find(privatize::running_rank());
  const bool any = mine != nullptr && !mine->deferred.load(std::memory_order_relaxed) &&
                   deliver(*mine, static_cast<const ucontext_t*>(context)->uc_sigmask, context);
  if (!any) count_for_others();
  errno = error;
}

siginfo_t marked_for(int rank, const siginfo_t& info) noexcept {
  siginfo_t marked = info;
  marked.si_code += kForRank;
  marked.si_errno = rank << kSignalBits | info.si_signo;
  return marked;
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

void signal_rank(int rank, const siginfo_t& info) noexcept {
  const int signal = info.si_signo;
  RankSignals* const signals = rank_signals.find(rank);
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

int signal_here(const siginfo_t& info) noexcept {
  siginfo_t marked = marked_for(privatize::running_rank(), info);
  return static_cast<int>(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal_for_rank(), &marked));
}

void receive_sent_signals() noexcept {
  struct sigaction action {};
  action.sa_sigaction = &dispatch_for_rank;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(signal_for_rank(), &action, nullptr);
}

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" int tmpi_shim_kill(pid_t process, int signal) {
  return send_to(process, info_of(signal, SI_USER));
}

extern "C" int tmpi_shim_sigqueue(pid_t process, int signal, union sigval value) {
  siginfo_t info = info_of(signal, SI_QUEUE);
  info.si_value = value;
  return send_to(process, info);
}
