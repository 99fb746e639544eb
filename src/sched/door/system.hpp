// System: what the code that parks threads needs of the machine and the kernel: atomics, futexes, an event
// descriptor. That code is written for any such system: it runs on this one, and on the one of explorer.hpp,
// which tries every order in which its threads can take their steps. Linux only; the one place that knows
// these system calls.
#pragma once

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/arming.hpp"
#include "base/platform.hpp"
#include "base/process_barrier.hpp"

namespace tmpi::sched {

/// The steps of parking and waking that look as if one could do without: parking_check leaves each of them
/// out in turn and has to find the wake-up that is lost then.
enum class Step {
  kEpochFirst,         ///< a parker reads the epoch before it announces itself
  kLookAgain,          ///< a parker looks again after it has announced itself
  kBarrier,            ///< ... and after a barrier on those who have left something by a plain store
  kListenFirst,        ///< the watcher compares the epoch after its descriptor has been made known
  kHandOver,           ///< who has watched has somebody else watch
  kHandOverHere,       ///< ... also one who is parked at the same inbox
  kPassOn,             ///< who is asked to watch, and goes to work instead, asks the next one
  kWakeOwner,          ///< a thread that leaves wakes the worker's own thread if a task is ready
  kForget,             ///< ... each time that it is idle, whether it was parked the last time or not
  kAppoint,            ///< a thread that leaves appoints a blocked one to park at the inbox
  kAnnounceForParked,  ///< a thread that leaves renews the announcement of who is parked
  kWatchForParked,     ///< ... and has it watch if nobody does
  kOpenStill,          ///< who takes tasks of another worker looks, under the lock, whether it may still
  kWakeThief,          ///< who leaves a task with a worker that computes has an idle one look for it
  kJoinFirst,          ///< who parks is counted as a thief before it looks for something to take
  kInviteNext,         ///< who takes some of its tasks has another idle one look for the rest
  kPassInvitation,     ///< who has been woken to look, and goes to work instead, has another one look
  kAwaitLeft,          ///< who finds a task that is just being left does not park
  kTakeInOpen,         ///< a worker that opens takes in what has been left for it outside of its inbox
  kLookWhetherOpen,    ///< who has left something there looks whether the worker is open
  kLookWhetherMoved,   ///< ... and whether the task that it is for has left the worker
  kTakeInLeft,         ///< a worker that a task has left takes in what has been left for that here
};

struct System {
  template <class T>
  using Atomic = std::atomic<T>;

  static constexpr int kLockSpins = 100;  ///< of a monitor: most stays are shorter than a sleep
  static constexpr int kPauseSpins =
      16;  ///< outside of the monitor, of a thread that is idle and not parked yet

  static constexpr bool omits(Step) noexcept { return false; }

  /// Sleeps while `word` is `value`, at most `nanoseconds` (0: for ever). May return early: look again.
  /// Blocks the thread.
  static void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                      std::uint64_t nanoseconds = 0) noexcept {
    const timespec timeout = timespec_of(nanoseconds);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds == 0 ? nullptr : &timeout, nullptr, 0);
  }
  static void wake_one(const std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  static void wake_all(const std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  /// An event descriptor; -1 if the process has no descriptor left.
  static int open_event() noexcept { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
  static void close_event(int event) noexcept { close(event); }
  /// Wakes who waits at `event`, or will.
  static void signal(int event) noexcept {
    const std::uint64_t once = 1;
    // Fails only when it has been signalled 2^64 - 1 times, and is readable then.
    [[maybe_unused]] const ssize_t done = write(event, &once, sizeof once);
  }
  /// Sleeps until `event` or `other` (an event descriptor, or -1) has been signalled, what `arming` names has come, or
  /// `nanoseconds` (0: no limit) have passed; takes the signals of `event`. Blocks the thread.
  static void wait_for(int event, int other, const Arming& arming, std::uint64_t nanoseconds) noexcept {
    Arming limited = arming;
    limited.limit(nanoseconds);
    const timespec timeout = timespec_of(limited.nanoseconds);
    // poll ignores a negative descriptor
    pollfd requests[3] = {{event, POLLIN, 0}, {other, POLLIN, 0}, {arming.fd, POLLIN, 0}};
    if (ppoll(requests, 3, limited.nanoseconds == 0 ? nullptr : &timeout, nullptr) > 0 &&
        requests[0].revents != 0)
      take_signals(event);
  }
  /// From now on `event` has not been signalled.
  static void take_signals(int event) noexcept {
    std::uint64_t signals;
    [[maybe_unused]] const ssize_t got = read(event, &signals, sizeof signals);
  }

  static bool process_barrier() noexcept { return tmpi::process_barrier(); }
  static void relax() noexcept { cpu_relax(); }
  static void yield() noexcept { sched_yield(); }

 private:
  static timespec timespec_of(std::uint64_t nanoseconds) noexcept {
    return {static_cast<time_t>(nanoseconds / 1'000'000'000u),
            static_cast<long>(nanoseconds % 1'000'000'000u)};
  }
};

}  // namespace tmpi::sched
