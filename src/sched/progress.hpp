// Progress beside the workers: who runs the event source's protocols while every worker computes (--progress).
// Contract of the room for others; the threads are in progress_threads.hpp. docs/design/scheduling.md, "The progress
// thread".
#pragma once

#include <atomic>
#include <cstdint>

#include "base/choices.hpp"

namespace tmpi::sched {

enum class Progress : std::uint8_t {
  kAuto,    ///< what costs nobody anything: as kPoll
  kPoll,    ///< workers alone, at scheduling points and while they idle
  kThread,  ///< a thread that sleeps on the event source while every worker computes
  kCore,    ///< threads on cores of their own, which spin
};

/// There are threads beside the workers.
constexpr bool is_beside(Progress mode) noexcept {
  return mode == Progress::kThread || mode == Progress::kCore;
}

inline constexpr Choice<Progress> kProgressModes[] = {
    {"auto", Progress::kAuto, "as poll", ""},
    {"poll", Progress::kPoll, "ranks that come to MPI, and cores that wait, do it for all", ""},
    {"thread", Progress::kThread, "a thread that sleeps until something comes while all cores compute", ""},
    {"core", Progress::kCore, "N cores, one without :N, do nothing else", "[:N]"},
};

namespace detail {
extern std::atomic<bool> g_progress_sleeps, g_progress_patient;
void wake_progress() noexcept;
void rouse_progress() noexcept;
/// A worker falls asleep: a progress thread that is patient because all compute is to be no longer. Relaxed: if it is
/// missed, what comes next is a little late.
inline void hurry_progress() noexcept {
  if (g_progress_patient.load(std::memory_order_relaxed)) [[unlikely]]
    rouse_progress();
}
}  // namespace detail

/// The event source's `expected` has been raised (seq_cst): a progress thread that sleeps because nothing was
/// expected has to know. Any thread; one load unless it sleeps so.
inline void call_progress() noexcept {
  // seq_cst pairs with the store before the thread looks at `expected` for the last time.
  if (detail::g_progress_sleeps.load(std::memory_order_seq_cst)) [[unlikely]]
    detail::wake_progress();
}

}  // namespace tmpi::sched
