#include "mpi/diagnose/polling.hpp"

#include <signal.h>
#include <sys/time.h>

#include <cstdint>

#include "base/clock_watch.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"

namespace tmpi::mpi {
namespace {

bool with_other_jobs() noexcept {
  return other_jobs().any() && other_jobs().any_connected();
}

bool may_go_on(const Rank& rank) noexcept {
  if (rank.task == nullptr || rank.has_threads.load(std::memory_order_relaxed)) return true;
  if (rank.task->state.load(std::memory_order_relaxed) != sched::TaskState::kBlocked) return false;
  const WaitKind kind = blocked_on(*rank.task).kind;
  return kind == WaitKind::kNothing || kind == WaitKind::kSocket || kind == WaitKind::kOutside;
}

// All messages that have come and receives that have been posted leave a trace here.
std::uint64_t traffic() noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < job()->local_count(); ++i) {
    Matcher& matcher = job()->local_at(i).matcher;
    const MatcherLock lock(matcher);
    sum = sum * 31 + matcher.history();
  }
  return sum;
}

// The program has a handler for a signal that somebody else may send, or a timer that runs.
bool waits_for_a_signal() noexcept {
  for (const int number :
       {SIGALRM, SIGVTALRM, SIGPROF, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGIO, SIGCHLD}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_DFL &&
        action.sa_handler != SIG_IGN)
      return true;
  }
  return false;
}

}  // namespace

bool only_polling(bool begins) noexcept {
  static std::uint64_t before = 0;
  if (job() == nullptr || generalized_requests_exist() || with_other_jobs()) return false;
  for (int i = 0; i < job()->local_count(); ++i) {
    if (may_go_on(job()->local_at(i))) return false;
  }
  const bool clock = clock_has_been_read.exchange(false, std::memory_order_relaxed);
  const std::uint64_t now = traffic();
  const bool quiet = begins || (!clock && now == before);
  before = now;
  // Last, and not with the first look: system calls, which a job that polls while messages come and go is spared.
  return quiet && (begins || !waits_for_a_signal());
}

}  // namespace tmpi::mpi
