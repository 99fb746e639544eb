// The two clocks of a virtualized MPI: time from the point of view of a process and of a core (Nigay et al.,
// "Communication and Timing Issues with MPI Virtualization", section 3, Listings 2 and 3). Plain arithmetic
// on time stamps of now_ticks(); sched calls it where ranks are switched.
//
// A stretch of running begins and ends on one core, and only time stamps of one stretch are subtracted. So
// the clocks stay right when a process moves to a core whose counter shows another time. Not thread-safe: a
// process's clock and mark are touched by the thread that runs it, a core's clock by the core's worker.
#pragma once

#include <cstdint>

namespace tmpi::timers {

/// Listing 2, one per process: advances only while the process runs. A clock that was never started (metering
/// was switched on in the middle of a stretch) starts with the next resume() or read().
class ProcessClock {
 public:
  /// The process has come through MPI_Init.
  void start(std::uint64_t now) noexcept {
    elapsed_ = 0;
    since_ = now;
  }
  void suspend(std::uint64_t now) noexcept {
    if (since_ == 0) return;
    elapsed_ += now - since_;
    since_ = 0;
  }
  void resume(std::uint64_t now) noexcept { since_ = now; }
  /// Called by the running process: the time it has run, in ticks.
  std::uint64_t read(std::uint64_t now) noexcept {
    suspend(now);
    resume(now);
    return elapsed_;
  }
  /// What the last suspend() or read() left: of a process that may be running elsewhere. Not synchronized.
  std::uint64_t elapsed() const noexcept { return elapsed_; }
  bool running() const noexcept { return since_ != 0; }

 private:
  std::uint64_t elapsed_ = 0;  // R
  std::uint64_t since_ = 0;    // T; 0: suspended, or never started
};

/// Listing 3's M, one per process: whether it is in a metered section, and since when on this core.
class SectionMark {
 public:
  bool active() const noexcept { return since_ != 0; }

 private:
  friend class ProcessorClock;
  std::uint64_t since_ = 0;  // 0: in no metered section
};

/// Listing 3's C, one per core: the time that its processes have spent in metered sections.
class ProcessorClock {
 public:
  /// The process enters the section. Within a section: no effect, the section goes on. (Listing 3 would set
  /// the mark anew and lose the time since the last resume.)
  static void start(SectionMark& mark, std::uint64_t now) noexcept {
    if (mark.since_ == 0) mark.since_ = now;
  }
  /// The process leaves the section. Outside of one: no effect.
  void stop(SectionMark& mark, std::uint64_t now) noexcept {
    suspend(mark, now);
    mark.since_ = 0;
  }
  void suspend(const SectionMark& mark, std::uint64_t now) noexcept {
    if (mark.since_ != 0) elapsed_ += now - mark.since_;
  }
  static void resume(SectionMark& mark, std::uint64_t now) noexcept {
    if (mark.since_ != 0) mark.since_ = now;
  }
  /// Called by a process that runs on this core: ticks that the core has spent in metered sections, the
  /// caller's own present stretch included.
  std::uint64_t read(SectionMark& callers, std::uint64_t now) noexcept {
    suspend(callers, now);
    resume(callers, now);
    return elapsed_;
  }

 private:
  std::uint64_t elapsed_ = 0;  // C
};

}  // namespace tmpi::timers
