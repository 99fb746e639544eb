#include "sched/sources/idling.hpp"

#include <algorithm>

#include "sched/progress.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

// Until nothing has happened for a while: a message that comes in piece by piece keeps the worker awake. Offers
// are looked for only after the first looks, unless one has been missed: who waits for a small message need not pay for
// that.
void Idling::spin() noexcept {
  if (spin_ticks_ == 0) return look();
  spins_.store(true, std::memory_order_relaxed);
  spin_on();
  spins_.store(false, std::memory_order_relaxed);
}

inline void Idling::spin_on() noexcept {
  if (assist_point_.missed()) [[unlikely]]
    assist_point_.look();
  std::uint64_t start = timers::now_ticks(), now;
  const auto over = [this]() TMPI_REQUIRES(inside_worker) {
    look();
    return has_ready() || finished();
  };
  // Between two pieces of another's work, whose owner waits for the last one.
  const auto goes_on = [this] {
    inside_worker.assume();
    spins_.store(false, std::memory_order_relaxed);
    glance();
    return !has_ready() && !finished();
  };
  const std::uint64_t patience = patience_.ticks(spin_ticks_);
  do {
    for (int i = 0; i < 8; ++i) {
      if (over()) return assist_point_.look_away();
      if (assist_point_.assist(goes_on)) {
        progressed_ = true;
        spins_.store(true, std::memory_order_relaxed);
      }
      loop_.door().entrance().pause();
    }
    assist_point_.look();
    now = timers::now_ticks();
    if (progressed()) start = now;
  } while (now - start < patience);
  assist_point_.look_away();
}

bool Idling::sleep(std::uint32_t epoch) noexcept {
  // Once: others may be inside by now.
  const std::uint64_t earliest = sleeping_.earliest();
  std::uint64_t left = 0;
  if (earliest != 0) {
    constexpr std::uint64_t kLongest = 1'000'000'000'000;  // ns; then another look
    const std::uint64_t now = monotonic_now();
    left = std::clamp<std::uint64_t>(earliest - std::min(now, earliest), 1, kLongest);
  }
  sleeps_.store(true, std::memory_order_relaxed);
  detail::hurry_progress();
  const std::uint64_t began = timers::now_ticks();
  const bool watched = stall_.sleep(loop_.parking(), epoch, left);
  sleeps_.store(false, std::memory_order_relaxed);
  // Not where the program has said for how long it sleeps.
  if (earliest == 0) patience_.note_sleep(timers::now_ticks() - began, spin_ticks_);
  loop_.parking().take_signals();
  return watched;
}

}  // namespace tmpi::sched
