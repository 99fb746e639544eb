#include "sched/progress_threads.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/bias.hpp"
#include "sched/progress.hpp"
#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr std::uint64_t kShortestRest = 50'000;  // ns
constexpr std::uint64_t kLongestRest = 4'000'000;
// Heat: how much the thread has been of use lately. Each time that it has moved something counts one, being woken
// for what a worker would have seen takes more off; at zero it is not called any more.
constexpr int kWarm = 4, kHottest = 32, kCooling = 4;
// Pauses in which a worker that spins looks at the source once.
constexpr int kGlance = 64;
// After so many looks in vain it may be that a worker is inside of the source, and does not get on because this
// thread has taken its core: it gets that back for so many ns.
constexpr int kVain = 2;
constexpr std::uint64_t kHolderTime = 20'000;
// No more looks of a worker count: it may have spun, and fallen asleep long ago.
constexpr std::uint64_t kOften = 8;
constexpr std::uint64_t kSettlingTime = 30'000;

// Of kernel 5.3; later versions are longer.
struct SchedulingAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
  std::uint32_t clamp_least, clamp_most;
};

// This thread needs a core for some microseconds, at once. Linux' scheduler (EEVDF, since 6.6) lets whoever
// computes finish its slice of 3 ms first, unless the one who wakes up has asked for a shorter slice (6.12). And
// who has just had a core must wait for the next tick of the clock, the less the higher its priority. What is
// refused (a higher priority needs a right, as root has, or ulimit -e) is done without.
void ask_to_be_prompt() noexcept {
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000;  // ns, the least that the kernel takes
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  setpriority(PRIO_PROCESS, 0, -20);  // of this thread, in Linux
}

// Signals are the ranks' and their workers': a thread that is made while one lives takes none.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

ProgressThreads* the_sleeping = nullptr;  // set before any task runs

}  // namespace

std::atomic<bool> detail::g_progress_sleeps{false};

void detail::wake_progress() noexcept {
  // Relaxed: one of those who have seen the flag wakes it.
  if (g_progress_sleeps.exchange(false, std::memory_order_relaxed)) the_sleeping->call();
}

void ProgressThreads::start_sleeping() {
  const NoSignals none;
  the_sleeping = this;
  threads_.emplace_back([this] { serve(); });
  pthread_setname_np(threads_.back().native_handle(), "tmpi-progress");
}

void ProgressThreads::start_spinning(const std::vector<Place>& places, bool bind) {
  const NoSignals none;
  for (const Place& place : places) {
    threads_.emplace_back([this, place, bind] {
      if (bind) pin_to(place);  // refused: works unpinned
      spin();
    });
    pthread_setname_np(threads_.back().native_handle(), "tmpi-progress");
  }
}

void ProgressThreads::stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);  // pairs with the look at it behind epoch()
  eventcount_.notify();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (the_sleeping == this) the_sleeping = nullptr;
}

void ProgressThreads::spin() noexcept {
  // acquire: nothing more than the end of the loop depends on it.
  while (!stopping_.load(std::memory_order_acquire)) {
    if (!source_.poll()) cpu_relax();
  }
}

// So often have workers looked at the source.
std::uint64_t ProgressThreads::looks() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : shared_.workers) sum += worker->looks();
  return sum;
}

// Something is expected, and nobody sleeps at the source. seq_cst pairs with call_progress() when this thread
// is about to sleep.
bool ProgressThreads::wanted() const noexcept {
  return source_.expected->load(std::memory_order_seq_cst) > 0 && shared_.parking.watch.free();
}

// A worker idles, and looks all the time but for this thread, which may have taken its core.
bool ProgressThreads::any_spins() const noexcept {
  return std::ranges::any_of(shared_.workers, [](const auto& worker) { return worker->spins(); });
}

// Somebody looks at the source now: a worker that idles, or a rank that tests.
bool ProgressThreads::others_look() const noexcept {
  const std::uint64_t before = looks();
  for (int i = 0; i < kGlance; ++i) cpu_relax();
  // Asked last: who goes to work now has seen that calls are wanted.
  return looks() != before || any_spins();
}

void ProgressThreads::serve() noexcept {
  // The timer of a thread that sleeps is late by its slack, 50 us if nothing is said.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  ask_to_be_prompt();
  // While it is of no use it rests for longer and longer, and begins the next time with longer rests.
  std::uint64_t first_rest = kShortestRest, rest = kShortestRest;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (heat_ > 0) {
      first_rest = rest = kShortestRest;
      sleep_until_called(watch());
      continue;
    }
    const std::uint32_t epoch = eventcount_.epoch();
    const std::uint64_t before = looks();
    if (wanted()) {
      eventcount_.wait(epoch, kShortestRest);
      if (wanted() && looks() == before && !any_spins()) {
        heat_ = kWarm;
        continue;
      }
    }
    eventcount_.wait(epoch, rest);
    if (rest < kLongestRest) {
      rest = std::min(2 * rest, kLongestRest);
      continue;
    }
    // Has nothing been expected, or has a worker slept at the source all the time?
    if (source_.expected->load(std::memory_order_relaxed) <= 0 ||
        (looks() == before && !shared_.parking.watch.free())) {
      sleep_until_called(false);
      first_rest = std::min(2 * first_rest, kLongestRest);
      rest = first_rest;
    }
  }
}

// `others`: a worker looks by itself; it calls when it goes to work.
void ProgressThreads::sleep_until_called(bool others) noexcept {
  const std::uint32_t epoch = eventcount_.epoch();
  detail::g_progress_sleeps.store(true, std::memory_order_seq_cst);
  // Once more, now that calls come. A rank that tests does not call when it goes on computing: hence the limit.
  // seq_cst (of epoch() and stopping_) pairs with stop().
  const bool sleeps = others ? others_look() : !wanted();
  if (sleeps && !stopping_.load(std::memory_order_seq_cst))
    eventcount_.wait(epoch, others ? kLongestRest : 0);
  detail::g_progress_sleeps.store(false, std::memory_order_relaxed);
  // Who has called is in the library, where it may hold locks, and has more to begin.
  eventcount_.wait(eventcount_.epoch(), kSettlingTime);
}

// Sees to the source until a worker does (true), or nothing is expected.
bool ProgressThreads::watch() noexcept {
  const Claim claim(bias());
  bool watched = false, moved = true, others = false;
  for (int vain = 1;; ++vain) {
    while (source_.poll()) {
      moved = true;
      vain = 0;
    }
    heat_ = vain == 0 ? std::min(heat_ + 1, kHottest) : heat_;
    const std::uint32_t epoch = eventcount_.epoch();
    if (stopping_.load(std::memory_order_seq_cst) || !wanted()) break;
    if (vain > kVain) eventcount_.wait(epoch, kHolderTime);
    // If all workers have fallen asleep before this thread moved something, none of them looks for a stall.
    const std::uint64_t limit = moved && shared_.stall.all_asleep() ? kStallPeriod : 0;
    const std::uint64_t start = timers::now_ticks(), before = looks();
    if (!shared_.parking.watch.park(eventcount_, epoch, limit, true)) break;
    watched = true;
    const double slept = timers::seconds(timers::now_ticks() - start);
    if (limit != 0) {
      moved = slept < 0.9e-9 * static_cast<double>(kStallPeriod);
      if (!moved) shared_.stall.check();
    }
    // Meanwhile workers have looked so often that one would have come soon. Now they may not, because this thread has
    // their core; what it then finds to do does not show that it is of use.
    const std::uint64_t often = std::min(looks() - before, kOften);
    others = slept < 1e-9 * static_cast<double>(often * kShortestRest) || others_look();
    if (others) {
      heat_ = std::max(heat_ - kCooling, 0);
      break;
    }
  }
  if (!watched) heat_ = std::max(heat_ - 1, 0);
  if (watched) Parking::hand_over(shared_.parking);
  return others;
}

}  // namespace tmpi::sched
