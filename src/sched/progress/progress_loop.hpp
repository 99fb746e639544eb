// ProgressLoop: what the sleeping progress thread does when (progress_threads.hpp), and how it learns whether it is of use.
// Its Host is the machine and the workers, or a clock that a test moves:
//
//     bool stopping()                      seq_cst: pairs with the store before the last notify()
//     ns now()                             any clock
//     bool poll()                          at the event source: true if it has moved something
//     bool expected()                      something is expected from the source
//     bool watched()                       somebody sleeps there
//     count looks()                        of workers at the source, so far
//     bool spins()                         a worker idles, and looks all the time but for this thread, which may
//                                          have taken its core
//     bool idles()                         a worker has nothing to run: it spins or sleeps
//     void glance()                        passes the time in which a worker that spins looks once
//     epoch epoch(), void wait(epoch, ns)  at the thread's eventcount; 0 ns: until it is notified
//     bool park(epoch, ns, patient)        the same as the watcher of the source; false: somebody else is. Patient: what
//                                          comes may lie for a while; a worker that falls asleep notifies it
//     void hand_over()                     it has watched: somebody else is to
//     void take_calls(bool)                call_progress() notifies it (seq_cst, before it looks for the last time), or not
//     bool all_asleep(), void check_stall()  the workers (stall.hpp)
//     Claim claim()                        keeps workers out of what they use without locks, while that lives
//
// Internal to sched.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/scheduler.hpp"

namespace tmpi::sched {

/// How much the thread has been of use lately, and how long it rests while it has not.
class ProgressHeat {
 public:
  static constexpr std::uint64_t kShortestRest = 50'000;  // ns
  static constexpr std::uint64_t kLongRest = 4'000'000;
  /// Where workers look all the time: a rest ends with a look that takes somebody's core twice.
  static constexpr std::uint64_t kLongestRest = 16'000'000;

  /// It is called, and watches.
  bool warm() const noexcept { return heat_ > 0; }
  int heat() const noexcept { return heat_; }

  /// It has moved something that no worker would have.
  void was_of_use() noexcept { heat_ = std::min(heat_ + 1, kHottest); }
  /// It was called, and there was nothing to watch for.
  void called_in_vain() noexcept { heat_ = std::max(heat_ - 1, 0); }
  /// It was woken for what a worker would have seen.
  void woken_in_vain() noexcept { heat_ = std::max(heat_ - kCooling, 0); }
  /// It has found by itself that all compute.
  void found_all_computing() noexcept { heat_ = kWarm; }

  /// So long it rests while it is cold.
  std::uint64_t rest() const noexcept { return rest_; }
  /// It has rested, for `rested` ns, in which workers have looked `looks` times. `needless`: nobody has needed it
  /// meanwhile, nor will without a call. True: it may sleep until it is called.
  bool rested(std::uint64_t rested, std::uint64_t looks, bool needless) noexcept {
    const std::uint64_t longest = looks >= rested / kShortestRest ? kLongestRest : kLongRest;
    if (rest_ < longest) {
      rest_ = std::min(2 * rest_, longest);
      return false;
    }
    if (needless) {
      // The next time it begins with longer rests.
      rest_ = first_rest_ = std::min(2 * first_rest_, kLongRest);
      return true;
    }
    rest_ = longest;
    return false;
  }
  void begin_anew() noexcept { rest_ = first_rest_ = kShortestRest; }

 private:
  // Each time that it has moved something counts one, being woken for what a worker would have seen takes more off; at
  // zero it is not called any more.
  static constexpr int kWarm = 4, kHottest = 32, kCooling = 4;

  int heat_ = 0;
  std::uint64_t first_rest_ = kShortestRest, rest_ = kShortestRest;
};

template <class Host>
class ProgressLoop {
 public:
  explicit ProgressLoop(Host& host) noexcept : host_(host) {}
  /// Until it is to stop.
  void run() noexcept;
  const ProgressHeat& heat() const noexcept { return heat_; }

 private:
  // All in ns.
  static constexpr std::uint64_t kGlance = ProgressHeat::kShortestRest;
  // A rank that tests does not call when it goes on computing.
  static constexpr std::uint64_t kLongestTrust = 4'000'000;
  // After so many looks in vain it may be that a worker is inside of the source, and does not get on because this
  // thread has taken its core: it gets that back for so long.
  static constexpr int kVain = 2;
  static constexpr std::uint64_t kHolderTime = 20'000;
  // No more looks of a worker count: it may have spun, and fallen asleep long ago.
  static constexpr std::uint64_t kOften = 8;
  static constexpr std::uint64_t kSettlingTime = 30'000;

  // Something is expected, and nobody sleeps at the source.
  bool wanted() const noexcept { return host_.expected() && !host_.watched(); }
  bool others_look() noexcept;
  bool look_while_cold() noexcept;
  bool watch() noexcept;
  void sleep_until_called(bool others) noexcept;
  void rest(std::uint32_t epoch) noexcept;
  std::uint64_t stall_limit() noexcept;
  bool stall_looked_for(std::uint64_t limit, std::uint64_t slept) noexcept;

  Host& host_;
  ProgressHeat heat_;
  bool moved_ = false;  // something, perhaps, since a stall has been looked for
};

template <class Host>
void ProgressLoop<Host>::run() noexcept {
  while (!host_.stopping()) {
    if (heat_.warm()) {
      heat_.begin_anew();
      sleep_until_called(watch());
    } else if (look_while_cold()) {
      sleep_until_called(false);
    }
  }
}

// True: it need not look by itself until it is called.
template <class Host>
bool ProgressLoop<Host>::look_while_cold() noexcept {
  const std::uint32_t epoch = host_.epoch();
  const std::uint64_t before = host_.looks();
  // A worker that idles looks when it has its core again.
  if (wanted() && !host_.spins()) {
    host_.wait(epoch, kGlance);
    if (wanted() && host_.looks() == before && !host_.spins()) {
      heat_.found_all_computing();
      return false;
    }
  }
  const std::uint64_t start = host_.now();
  host_.wait(epoch, heat_.rest());
  const std::uint64_t looks = host_.looks() - before;
  // Has nothing been expected, or has a worker slept at the source all the time?
  return heat_.rested(host_.now() - start, looks, !host_.expected() || (looks == 0 && host_.watched()));
}

// Somebody looks at the source now: a worker that idles, or a rank that tests.
template <class Host>
bool ProgressLoop<Host>::others_look() noexcept {
  const std::uint64_t before = host_.looks();
  host_.glance();
  // Asked last: who goes to work now has seen that calls are wanted.
  return host_.looks() != before || host_.spins();
}

// `others`: a worker looks by itself; it calls when it goes to work.
template <class Host>
void ProgressLoop<Host>::sleep_until_called(bool others) noexcept {
  const std::uint32_t epoch = host_.epoch();
  host_.take_calls(true);
  // Once more, now that calls come.
  const bool sleeps = others ? others_look() : !wanted();
  if (sleeps && !host_.stopping()) {
    if (others) {
      host_.wait(epoch, kLongestTrust);
    } else {
      rest(epoch);
    }
  }
  host_.take_calls(false);
  // Who has called is in the library, where it may hold locks, and has more to begin.
  host_.wait(host_.epoch(), kSettlingTime);
}

// Until it is called.
template <class Host>
void ProgressLoop<Host>::rest(std::uint32_t epoch) noexcept {
  if (const std::uint64_t limit = stall_limit(); limit != 0) {
    const std::uint64_t start = host_.now();
    host_.wait(epoch, limit);
    if (!stall_looked_for(limit, host_.now() - start)) return;
  }
  host_.wait(epoch, 0);
}

// If all workers have fallen asleep before this thread moved something, none of them looks for a stall: then this thread
// sleeps so long at first. 0: one of them does, or it has been done.
template <class Host>
std::uint64_t ProgressLoop<Host>::stall_limit() noexcept {
  return moved_ && host_.all_asleep() ? kStallPeriod : 0;
}

// After such a sleep; true if it has lasted, and the look is done.
template <class Host>
bool ProgressLoop<Host>::stall_looked_for(std::uint64_t limit, std::uint64_t slept) noexcept {
  moved_ = slept < limit / 10 * 9;
  if (!moved_) host_.check_stall();
  return !moved_;
}

// Sees to the source until a worker does (true), or nothing is expected.
template <class Host>
bool ProgressLoop<Host>::watch() noexcept {
  [[maybe_unused]] const auto claim = host_.claim();
  bool watched = false, others = false, hurried = false;
  moved_ = true;
  for (int vain = 1;; ++vain) {
    while (host_.poll()) {
      moved_ = true;
      vain = 0;
    }
    if (vain == 0) heat_.was_of_use();
    const std::uint32_t epoch = host_.epoch();
    if (host_.stopping() || !wanted()) break;
    if (vain > kVain) host_.wait(epoch, kHolderTime);
    const std::uint64_t limit = stall_limit();
    const std::uint64_t start = host_.now(), before = host_.looks();
    if (!host_.park(epoch, limit, !hurried && !host_.idles())) break;
    watched = true;
    // A worker has fallen asleep, having looked: its rank waits for what comes next.
    hurried = host_.epoch() != epoch;
    if (hurried) continue;
    const std::uint64_t slept = host_.now() - start;
    if (limit != 0) (void)stall_looked_for(limit, slept);
    // Meanwhile workers have looked so often that one would have come soon. Now they may not, because this thread has
    // their core; what it then finds to do does not show that it is of use.
    const std::uint64_t often = std::min(host_.looks() - before, kOften);
    others = slept < often * ProgressHeat::kShortestRest || others_look();
    if (others) {
      heat_.woken_in_vain();
      break;
    }
  }
  if (!watched) heat_.called_in_vain();
  if (watched) host_.hand_over();
  return others;
}

}  // namespace tmpi::sched
