#include "sched/machine/wake_up_cost.hpp"

#include <poll.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/own_thread.hpp"
#include "sched/machine/prompt.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kRound = 4e-3;    // seconds, each without and with somebody who wakes up
constexpr long kPeriod = 200'000;  // ns
constexpr double kInterrupted =
    1e-6;                   // the clock has gone on by so much between two looks: somebody else had the core
constexpr int kFewest = 5;  // wake-ups that say something
constexpr int kMostMoments = 50;  // of kPeriod, until the thread has run for the first time

// Wakes up again and again, on the core of who has made it, and does nothing.
struct Sleeper {
  std::atomic<bool> stop{false}, gone{false};
  std::atomic<std::uint32_t> wake_ups{0};

  static void* run(void* self) {
    static_cast<Sleeper*>(self)->sleep();
    return nullptr;
  }
  void sleep() noexcept {
    ask_to_be_prompt();
    const timespec period{0, kPeriod};
    // Each of the words is all that there is to see; release pairs with the one who lets this go.
    while (!stop.load(std::memory_order_relaxed)) {
      ppoll(nullptr, 0, &period, nullptr);
      wake_ups.fetch_add(1, std::memory_order_relaxed);
    }
    gone.store(true, std::memory_order_release);
  }
};

// Ticks in which the caller has not had its core.
std::uint64_t compute() noexcept {
  const std::uint64_t interrupted = timers::ticks(kInterrupted);
  std::uint64_t lost = 0, last = timers::now_ticks();
  for (const std::uint64_t end = last + timers::ticks(kRound); last < end;) {
    const std::uint64_t now = timers::now_ticks();
    if (now - last > interrupted) lost += now - last;
    last = now;
  }
  return lost;
}

// In ticks, negative if others took more of the core before; `measured`: there is something to say.
std::int64_t one_round(bool& measured) noexcept {
  const std::uint64_t before = compute();
  Sleeper sleeper;
  if (!start_own_thread(&Sleeper::run, &sleeper)) return 0;
  // A new thread gets the core when the caller's slice is over, which may be as long as a round.
  const timespec moment{0, kPeriod};
  for (int i = 0; i < kMostMoments && sleeper.wake_ups.load(std::memory_order_relaxed) == 0; ++i)
    ppoll(nullptr, 0, &moment, nullptr);
  const std::uint32_t earlier = sleeper.wake_ups.load(std::memory_order_relaxed);
  const std::uint64_t with = compute();
  const auto wake_ups = static_cast<std::int64_t>(sleeper.wake_ups.load(std::memory_order_relaxed) - earlier);
  sleeper.stop.store(true, std::memory_order_relaxed);
  while (!sleeper.gone.load(std::memory_order_acquire)) sched_yield();
  measured = wake_ups >= kFewest;
  return measured ? (static_cast<std::int64_t>(with) - static_cast<std::int64_t>(before)) / wake_ups : 0;
}

}  // namespace

double wake_up_cost() noexcept {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &allowed)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return 0;
  std::array<std::int64_t, 5> rounds{};
  bool measured = true;
  for (std::int64_t& round : rounds) {
    if (measured) round = one_round(measured);
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
  std::ranges::sort(rounds);
  const std::int64_t median = rounds[rounds.size() / 2];
  return measured && median > 0 ? timers::seconds(static_cast<std::uint64_t>(median)) : 0;
}

}  // namespace tmpi::sched
