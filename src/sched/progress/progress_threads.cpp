#include "sched/progress/progress_threads.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

#include "base/bias.hpp"
#include "base/no_signals.hpp"
#include "base/platform.hpp"
#include "sched/machine/prompt.hpp"
#include "sched/progress.hpp"
#include "sched/progress/progress_loop.hpp"
#include "sched/worker/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

// Pauses in which a worker that spins looks at the source once.
constexpr int kGlance = 64;

ProgressThreads* the_sleeping = nullptr;  // set before any task runs

}  // namespace

std::atomic<bool> detail::g_progress_sleeps{false}, detail::g_progress_patient{false};

void detail::wake_progress() noexcept {
  // Relaxed: one of those who have seen the flag wakes it.
  if (g_progress_sleeps.exchange(false, std::memory_order_relaxed)) the_sleeping->call();
}

void detail::rouse_progress() noexcept {
  if (g_progress_patient.exchange(false, std::memory_order_relaxed)) the_sleeping->call();
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
      if (bind)
        pin_to({&place, 1});  // refused: works unpinned
      else
        give_way();  // there is no core that is its own
      spin(bind);
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

void ProgressThreads::spin(bool own_core) noexcept {
  const std::uint64_t period = timers::ticks(1e-9 * static_cast<double>(kStallPeriod));
  bool moved = false;  // something since a stall has been looked for, which workers do when they fall asleep
  std::uint64_t last = 0;
  // acquire: nothing more than the end of the loop depends on it.
  while (!stopping_.load(std::memory_order_acquire)) {
    if (source_.poll()) {
      moved = true;
      last = timers::now_ticks();
      continue;
    }
    if (moved && timers::now_ticks() - last > period) {
      moved = false;
      shared_.stall.check();
    }
    if (own_core)
      cpu_relax();
    else
      sched_yield();  // to the one of another node process of this host
  }
}

// The Host of ProgressLoop.
class ProgressThreads::Sleeper {
 public:
  explicit Sleeper(ProgressThreads& all) noexcept : all_(all), shared_(all.shared_), source_(all.source_) {}

  bool stopping() const noexcept { return all_.stopping_.load(std::memory_order_seq_cst); }
  std::uint64_t now() const noexcept {
    return static_cast<std::uint64_t>(1e9 * timers::seconds(timers::now_ticks()));
  }
  bool poll() const noexcept { return source_.poll(); }
  // seq_cst pairs with call_progress() when this thread is about to sleep.
  bool expected() const noexcept { return source_.expected->load(std::memory_order_seq_cst) > 0; }
  bool watched() const noexcept { return !shared_.parking.watch.free(); }
  std::uint64_t looks() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& worker : shared_.workers) sum += worker->network().looks();
    return sum;
  }
  bool spins() const noexcept {
    return std::ranges::any_of(shared_.workers, [](const auto& worker) { return worker->idling().spins(); });
  }
  bool idles() const noexcept {
    return std::ranges::any_of(shared_.workers, [](const auto& worker) { return worker->idling().idles(); });
  }
  void glance() const noexcept {
    for (int i = 0; i < kGlance; ++i) cpu_relax();
  }
  std::uint32_t epoch() const noexcept { return all_.eventcount_.epoch(); }
  void wait(std::uint32_t epoch, std::uint64_t nanoseconds) const noexcept {
    all_.eventcount_.wait(epoch, nanoseconds);
  }
  bool park(std::uint32_t epoch, std::uint64_t nanoseconds, bool patient) const noexcept {
    detail::g_progress_patient.store(patient, std::memory_order_relaxed);
    const bool parked = shared_.parking.watch.park(all_.eventcount_, epoch, nanoseconds, patient);
    detail::g_progress_patient.store(false, std::memory_order_relaxed);
    return parked;
  }
  void hand_over() const noexcept { Parking::hand_over(shared_.parking); }
  void take_calls(bool takes) const noexcept {
    detail::g_progress_sleeps.store(takes, std::memory_order_seq_cst);
  }
  bool all_asleep() const noexcept { return shared_.stall.all_asleep(); }
  void check_stall() const noexcept { shared_.stall.check(); }
  Claim claim() const noexcept { return Claim(bias()); }

 private:
  ProgressThreads& all_;
  Shared& shared_;
  const EventSource& source_;
};

void ProgressThreads::serve() noexcept {
  ask_to_be_prompt();
  Sleeper sleeper(*this);
  ProgressLoop<Sleeper>(sleeper).run();
}

}  // namespace tmpi::sched
