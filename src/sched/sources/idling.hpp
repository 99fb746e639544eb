// Idling: what a worker does while it has nothing to run: it looks at its sources, spins, takes part in others' work
// (assist.hpp), and sleeps. The Host of its entrance (entrance.hpp), for every thread inside.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "sched/assist.hpp"
#include "sched/loop/run_loop.hpp"
#include "sched/sources/interrupts.hpp"
#include "sched/sources/patience.hpp"
#include "sched/sources/sleep_source.hpp"
#include "sched/sources/source.hpp"
#include "sched/sources/stall.hpp"

namespace tmpi::sched {

class Idling {
 public:
  /// Spins for some multiple of `spin_ticks` (patience.hpp); 0: not at all.
  Idling(RunLoop& loop, const std::uint64_t& spin_ticks, StallWatch& stall) noexcept
      : loop_(loop), spin_ticks_(spin_ticks), stall_(stall), interrupts_(loop), sleeping_(loop) {}

  Sources& sources() noexcept { return sources_; }
  Interrupts& interrupts() noexcept { return interrupts_; }
  SleepSource& sleeping() noexcept { return sleeping_; }
  AssistPoint& assist_point() noexcept { return assist_point_; }

  // Any thread.
  /// The worker idles, and does nothing but look; so it is, too, while another thread has its core.
  bool spins() const noexcept { return spins_.load(std::memory_order_relaxed); }
  /// It has nothing to run.
  bool idles() const noexcept { return spins() || sleeps_.load(std::memory_order_relaxed); }

  // The Host.
  void look() noexcept TMPI_REQUIRES(inside_worker) {
    progressed_ = sources_.look(loop_.reasons()) || progressed_;
  }
  bool look_again() noexcept TMPI_REQUIRES(inside_worker) { return sources_.look_again(); }
  bool has_ready() const noexcept TMPI_REQUIRES(inside_worker) {
    return !loop_.queue().empty() || interrupts_.any();
  }
  bool finished() const noexcept { return loop_.finished(); }
  void spin() noexcept TMPI_REQUIRES(inside_worker);
  bool progressed() noexcept TMPI_REQUIRES(inside_worker) {
    const bool asked = assist_point_.take_request();
    return std::exchange(progressed_, false) || asked;
  }
  bool sleep(std::uint32_t epoch) noexcept;

  /// What costs only loads: not the clock, and not the network.
  void glance() noexcept TMPI_REQUIRES(inside_worker) {
    sources_.look(loop_.reasons(), Source::Cost::kMemory);
  }

 private:
  void spin_on() noexcept TMPI_REQUIRES(inside_worker);

  RunLoop& loop_;
  const std::uint64_t& spin_ticks_;
  StallWatch& stall_;
  Sources sources_;
  Interrupts interrupts_;
  SleepSource sleeping_;
  bool progressed_ TMPI_GUARDED_BY(inside_worker) =
      false;  // a source has made progress, or the worker has assisted another
  // Relaxed: for the progress thread's judgement.
  std::atomic<bool> spins_{false}, sleeps_{false};
  Patience patience_;
  AssistPoint assist_point_;
};

}  // namespace tmpi::sched
