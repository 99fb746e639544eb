// The rules of the progress thread (progress_loop.hpp) against a clock that only they move: when it watches, when it rests
// and for how long, what makes it warm and cold. What the workers do is a script.
#include "sched/progress/progress_loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tmpi::sched {
namespace {

using Time = std::uint64_t;  // ns

constexpr Time kMicrosecond = 1000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;
constexpr Time kPollTime = 500, kGlanceTime = 2000;

/// What happens, by time. Nothing unless it is said.
struct Script {
  Time end = kSecond;
  std::function<bool(Time)> expected = [](Time) { return true; };
  std::function<std::uint64_t(Time)> looks = [](Time) { return std::uint64_t{0}; };
  std::function<bool(Time)> asleep = [](Time) { return false; };
  std::function<bool(Time)> spins = [](Time) { return false; };
  std::function<bool(Time)> watched = [](Time) { return false; };
  std::function<bool(Time)> all_asleep = [](Time) { return false; };
  std::vector<Time> arrivals;  // at the source, in order
  std::vector<Time> calls;     // of call_progress(), in order
  std::vector<Time> hurries;   // of workers that fall asleep while it is patient, in order
};

class FakeHost {
 public:
  explicit FakeHost(Script script) : script_(std::move(script)) {}

  bool stopping() const { return now_ >= script_.end; }
  Time now() const { return now_; }
  bool poll() {
    now_ += kPollTime;
    if (taken < script_.arrivals.size() && script_.arrivals[taken] <= now_) {
      latest = std::max(latest, now_ - script_.arrivals[taken]);
      ++taken;
      return true;
    }
    return false;
  }
  bool expected() const { return script_.expected(now_); }
  bool watched() const { return script_.watched(now_); }
  std::uint64_t looks() const { return script_.looks(now_); }
  bool spins() const { return script_.spins(now_); }
  bool idles() const { return spins() || script_.asleep(now_); }
  void glance() { now_ += kGlanceTime; }
  std::uint32_t epoch() const { return epoch_; }
  void wait(std::uint32_t epoch, Time nanoseconds) { sleep(epoch, nanoseconds, false); }
  bool park(std::uint32_t epoch, Time nanoseconds, bool patient) {
    if (watched()) return false;
    (patient ? patient_parks : hurried_parks).push_back(now_);
    if (!first_watch) first_watch = now_;
    ++parks;
    if (patient && hurry_ < script_.hurries.size() && script_.hurries[hurry_] > now_ &&
        (taken == script_.arrivals.size() || script_.hurries[hurry_] < script_.arrivals[taken])) {
      now_ = script_.hurries[hurry_++];
      ++epoch_;
      return true;
    }
    sleep(epoch, nanoseconds, true);
    return true;
  }
  void hand_over() { ++handed_over; }
  void take_calls(bool takes) { takes_calls_ = takes; }
  bool all_asleep() const { return script_.all_asleep(now_); }
  void check_stall() { stalls.push_back(now_); }
  struct Claim {
    FakeHost& host;
    ~Claim() { --host.claims; }
  };
  Claim claim() {
    ++claims;
    return {*this};
  }

  std::vector<Time> wake_ups;
  std::vector<Time> stalls;
  std::vector<Time> patient_parks, hurried_parks;
  std::optional<Time> first_watch;
  std::size_t taken = 0;  // arrivals
  Time latest = 0;        // after an arrival, of those taken
  int parks = 0, handed_over = 0, claims = 0;

  /// In [from, to).
  long wakes(Time from, Time to) const {
    return std::ranges::count_if(wake_ups, [=](Time t) { return t >= from && t < to; });
  }

 private:
  void sleep(std::uint32_t epoch, Time nanoseconds, bool at_source) {
    Time until = nanoseconds == 0 ? script_.end : std::min(now_ + nanoseconds, script_.end);
    if (at_source && taken < script_.arrivals.size())
      until = std::min(until, std::max(now_, script_.arrivals[taken]));
    if (takes_calls_) {
      const auto call = std::ranges::lower_bound(script_.calls, now_);
      if (epoch != epoch_) until = now_;
      if (call != script_.calls.end() && *call <= until) {
        until = *call + 1;
        ++epoch_;
        takes_calls_ = false;  // the first caller clears it
      }
    }
    now_ = until;
    if (!stopping()) wake_ups.push_back(now_);
  }

  Script script_;
  Time now_ = 0;
  std::size_t hurry_ = 0;
  std::uint32_t epoch_ = 0;
  bool takes_calls_ = false;
};

FakeHost play(Script script) {
  FakeHost host(std::move(script));
  ProgressLoop<FakeHost> loop(host);
  loop.run();
  CHECK(host.claims == 0);
  return host;
}

std::uint64_t every(Time period, Time now) {
  return now / period;
}

TEST_CASE("progress: nothing wakes the thread while nothing is expected") {
  const FakeHost host = play({.end = 10 * kSecond, .expected = [](Time) { return false; }});
  CHECK(host.wakes(0, 20 * kMillisecond) > 0);
  CHECK(host.wakes(20 * kMillisecond, 10 * kSecond) == 0);
  CHECK(host.parks == 0);
}

TEST_CASE("progress: nothing wakes it while a worker sleeps at the source") {
  const FakeHost host = play({.end = 10 * kSecond, .watched = [](Time) { return true; }});
  CHECK(host.wakes(20 * kMillisecond, 10 * kSecond) == 0);
  CHECK(host.parks == 0);
}

TEST_CASE("progress: it watches soon after all have begun to compute, and takes in at once what comes") {
  Script script{.end = kSecond};
  for (Time t = 10 * kMillisecond; t < kSecond; t += kMillisecond) script.arrivals.push_back(t);
  const std::size_t arrivals = script.arrivals.size();
  const FakeHost host = play(std::move(script));
  REQUIRE(host.first_watch);
  CHECK(*host.first_watch < 200 * kMicrosecond);
  CHECK(host.taken == arrivals);
  CHECK(host.latest <= kGlanceTime + kPollTime);
  // Once for each, and few more.
  CHECK(host.wakes(0, kSecond) < static_cast<long>(arrivals) + 10);
}

TEST_CASE("progress: between ranks that look all the time it looks twice in 16 ms, and does not watch") {
  const FakeHost host = play({.end = 10 * kSecond, .looks = [](Time t) { return every(kMicrosecond, t); }});
  CHECK(host.parks == 0);
  CHECK(host.wakes(kSecond, 10 * kSecond) <= 9 * 2 * 63);
  CHECK(host.wakes(kSecond, 10 * kSecond) >= 9 * 2 * 55);
  // One that only spins shows itself otherwise.
  const FakeHost idle = play({.end = 10 * kSecond, .spins = [](Time) { return true; }});
  CHECK(idle.parks == 0);
  // Then one look is enough.
  const FakeHost both = play({.end = 10 * kSecond,
                              .looks = [](Time t) { return every(kMicrosecond, t); },
                              .spins = [](Time) { return true; }});
  CHECK(both.parks == 0);
  CHECK(both.wakes(kSecond, 10 * kSecond) <= 9 * 63);
}

TEST_CASE("progress: after that all compute: it is found, in one rest") {
  const auto looks = [](Time t) { return every(kMicrosecond, std::min(t, kSecond / 2)); };
  const FakeHost host = play({.looks = looks});
  REQUIRE(host.first_watch);
  CHECK(*host.first_watch >= kSecond / 2);
  CHECK(*host.first_watch < kSecond / 2 + ProgressHeat::kLongestRest + kMillisecond);
}

TEST_CASE("progress: ranks that come by every 200 us are found to compute in between") {
  const FakeHost host = play({.looks = [](Time t) { return every(200 * kMicrosecond, t); }});
  REQUIRE(host.first_watch);
  CHECK(*host.first_watch < 5 * kMillisecond);
}

// It is warm, having moved something each ms; then workers take in all that comes, by a look every 5 us.
TEST_CASE("progress: woken for what workers would have seen it becomes cold, and is called no longer") {
  constexpr Time kChange = 100 * kMillisecond;
  Script script{.looks = [](Time t) { return t < kChange ? 0 : every(5 * kMicrosecond, t - kChange); }};
  for (Time t = kMillisecond; t < kChange; t += kMillisecond) script.arrivals.push_back(t);
  for (Time t = kChange; t < kSecond; t += 20 * kMicrosecond) {
    script.arrivals.push_back(t);
    script.calls.push_back(t + 10 * kMicrosecond);
  }
  const FakeHost host = play(std::move(script));
  // Of 45,000 messages; the hottest takes eight wake-ups in vain, each followed by a call.
  CHECK(host.wakes(kChange, kSecond) < 200);
  CHECK(host.wakes(kChange + kSecond / 2, kSecond) <= 2 * 26);
  CHECK(host.handed_over > 0);
}

TEST_CASE("progress: it is patient while all compute, until a worker falls asleep") {
  constexpr Time kAsleep = 500 * kMillisecond, kAwake = 600 * kMillisecond;
  Script script{.asleep = [](Time t) { return t >= kAsleep && t < kAwake; }};
  for (Time t = kMillisecond / 2; t < kSecond; t += kMillisecond) script.arrivals.push_back(t);
  const std::size_t arrivals = script.arrivals.size();
  script.hurries = {kAsleep};
  const FakeHost host = play(std::move(script));
  CHECK(host.taken == arrivals);
  const auto during = [](Time t) { return t >= kAsleep && t < kAwake; };
  CHECK(std::ranges::none_of(host.patient_parks, during));
  // At once, not with the next arrival.
  REQUIRE_FALSE(host.hurried_parks.empty());
  CHECK(host.hurried_parks.front() < kAsleep + kMillisecond / 10);
  CHECK(std::ranges::count_if(host.hurried_parks, during) >= 99);
  CHECK(std::ranges::all_of(host.hurried_parks, [](Time t) { return t >= kAsleep && t < kAwake; }));
  CHECK(host.patient_parks.size() >= 890);
  // It stays of use: what the worker has looked before it fell asleep does not count against it.
  CHECK(host.handed_over == 1);  // when it stops
}

TEST_CASE("progress: what calls it and is over when it comes makes it cold by and by") {
  // Warm from the beginning; then something is expected for a moment in each ms.
  constexpr Time kChange = 10 * kMillisecond, kMoment = 10 * kMicrosecond;
  Script script{
      .expected = [](Time t) { return t < kChange || (t + kMillisecond / 2) % kMillisecond < kMoment; }};
  for (Time t = kMillisecond; t <= kChange; t += kMillisecond) script.arrivals.push_back(t - 1);
  for (Time t = kChange; t < kSecond; t += kMillisecond) script.calls.push_back(t + kMillisecond / 2 + 1);
  const FakeHost host = play(std::move(script));
  CHECK(host.taken == 10);
  // The call and the time to settle, 14 times; then three wake-ups in 5 ms at most.
  CHECK(host.wakes(kChange, kChange + 10 * kMillisecond) == 20);
  CHECK(host.wakes(kChange + 20 * kMillisecond, kSecond) < 3 * 980 / 5 + 10);
}

TEST_CASE("progress: if all have fallen asleep it looks for a stall, once") {
  const FakeHost host = play({.end = 2 * kSecond, .all_asleep = [](Time) { return true; }});
  REQUIRE(host.stalls.size() == 1);
  CHECK(host.stalls[0] >= kStallPeriod);
  CHECK(host.stalls[0] < kStallPeriod + kMillisecond);
  // Something that comes begins a new period.
  Script script{.end = kSecond, .all_asleep = [](Time) { return true; }};
  script.arrivals = {100 * kMillisecond, 300 * kMillisecond};
  const FakeHost moved = play(std::move(script));
  REQUIRE(moved.stalls.size() == 1);
  CHECK(moved.stalls[0] >= 300 * kMillisecond + kStallPeriod);
}

TEST_CASE(
    "progress: it looks for a stall after what it has moved last, with nothing more expected or somebody "
    "else at the source") {
  constexpr Time kLast = 100 * kMillisecond;
  const auto until_then = [](Time t) { return t <= kLast; };
  const auto always = [](Time) { return true; };
  const FakeHost over =
      play({.end = 2 * kSecond, .expected = until_then, .all_asleep = always, .arrivals = {kLast}});
  REQUIRE(over.stalls.size() == 1);
  CHECK(over.stalls[0] >= kLast + kStallPeriod);
  const FakeHost watched = play({.end = 2 * kSecond,
                                 .watched = [](Time t) { return t > kLast; },
                                 .all_asleep = always,
                                 .arrivals = {kLast}});
  REQUIRE(watched.stalls.size() == 1);
  CHECK(watched.stalls[0] >= kLast + kStallPeriod);
}

TEST_CASE("progress: heat") {
  ProgressHeat heat;
  CHECK_FALSE(heat.warm());
  heat.found_all_computing();
  CHECK(heat.heat() == 4);
  heat.woken_in_vain();
  CHECK_FALSE(heat.warm());
  heat.woken_in_vain();
  heat.called_in_vain();
  CHECK(heat.heat() == 0);
  for (int i = 0; i < 100; ++i) heat.was_of_use();
  CHECK(heat.heat() == 32);
  for (int i = 0; i < 7; ++i) heat.woken_in_vain();
  CHECK(heat.warm());
  heat.called_in_vain();
  CHECK(heat.heat() == 3);
}

// So many rests until it sleeps, and how long they take together.
struct Rests {
  int count = 0;
  Time time = 0;
};

Rests until_sleep(ProgressHeat& heat, std::uint64_t looks_per_ms) {
  Rests rests;
  for (bool sleeps = false; !sleeps && rests.count < 1000; ++rests.count) {
    const Time rest = heat.rest();
    rests.time += rest;
    sleeps = heat.rested(rest, rest * looks_per_ms / kMillisecond, true);
  }
  return rests;
}

TEST_CASE("progress: rests become longer, and begin longer each time until it has been of use") {
  ProgressHeat heat;
  Time before = 0;
  for (const int rests : {8, 7, 6, 5, 4, 3, 2, 1, 1}) {
    const Rests seen = until_sleep(heat, 1);
    CHECK(seen.count == rests);
    CHECK(seen.time < 11 * kMillisecond);
    CHECK((before == 0 || seen.time <= before));
    before = seen.time;
    CHECK(heat.rest() <= ProgressHeat::kLongRest);
  }
  heat.begin_anew();
  CHECK(heat.rest() == ProgressHeat::kShortestRest);
  // Where workers look all the time they become longer still, and never end while the thread may be needed.
  for (int i = 0; i < 100; ++i) CHECK_FALSE(heat.rested(heat.rest(), heat.rest() / kMicrosecond, false));
  CHECK(heat.rest() == ProgressHeat::kLongestRest);
  // No longer than that when they look less.
  CHECK_FALSE(heat.rested(heat.rest(), 1, false));
  CHECK(heat.rest() == ProgressHeat::kLongRest);
}

}  // namespace
}  // namespace tmpi::sched
