// Sleeping: libc's functions that wait for nothing but time. Where other ranks share the core it is the
// scheduler's business whether they run meanwhile (--sleep, docs/design/scheduling.md); who waits for no time at all lets them
// run. Bound to code in images only.
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "privatize/loader.hpp"
#include "privatize/masked_wait.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/sleep_hooks.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

SleepHooks the_hooks{};

std::uint64_t now_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

bool is_valid(const timespec* time) noexcept {
  return time != nullptr && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
         time->tv_nsec < static_cast<long>(kSecond);
}

/// ns; what is too long for that is for ever.
std::uint64_t nanoseconds_of(const timespec& time) noexcept {
  constexpr auto kMost = static_cast<time_t>(kNoDeadline / kSecond / 4);
  if (time.tv_sec >= kMost) return kNoDeadline;
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

timespec timespec_of(std::uint64_t nanoseconds) noexcept {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

/// Sleeps that long, and returns what was left when a signal ended it, 0 if none did. No time at all is a scheduling
/// point: who says so wants others to run.
std::uint64_t sleep_for(std::uint64_t nanoseconds, const char* call) noexcept {
  if (nanoseconds == 0) {
    if (!give_way()) ::sched_yield();
    return 0;
  }
  const std::uint64_t now = now_of(CLOCK_MONOTONIC);
  const std::uint64_t deadline = nanoseconds == kNoDeadline ? kNoDeadline : now + nanoseconds;
  const int error = own_errno();  // its own waiting changes it
  const bool slept = the_hooks.sleep_until(deadline, call);
  set_own_errno(error);
  if (slept) return 0;
  // A signal that comes at the very end has ended it all the same.
  return std::max<std::uint64_t>(1, deadline - std::min(deadline, now_of(CLOCK_MONOTONIC)));
}

/// The same up to a time of a clock that somebody may set meanwhile. 0 or EINTR.
int sleep_up_to(clockid_t clock, std::uint64_t time, const char* call) noexcept {
  for (std::uint64_t now = now_of(clock); now < time; now = now_of(clock)) {
    const std::uint64_t left = time - now;
    if (sleep_for(clock == CLOCK_MONOTONIC ? left : std::min(left, kSecond), call) != 0) return EINTR;
  }
  return 0;
}

int sleep_by(clockid_t clock, int flags, const timespec* request, timespec* rest, const char* call) noexcept {
  if ((flags & TIMER_ABSTIME) != 0) return sleep_up_to(clock, nanoseconds_of(*request), call);
  const std::uint64_t left = sleep_for(nanoseconds_of(*request), call);
  if (left == 0) return 0;
  if (rest != nullptr) *rest = timespec_of(left);
  return EINTR;
}

bool waits_for_time_only(const pollfd* requests, nfds_t count) noexcept {
  return std::all_of(requests, requests + count, [](const pollfd& request) { return request.fd < 0; });
}

bool is_empty(int count, const fd_set* set) noexcept {
  if (set == nullptr) return true;
  for (int fd = 0; fd < std::min(count, static_cast<int>(FD_SETSIZE)); ++fd) {
    if (FD_ISSET(fd, set)) return false;
  }
  return count <= static_cast<int>(FD_SETSIZE);
}

/// What is left of a select, or 0; -1 with errno if a signal has ended it.
template <class Left>
int select_nothing(std::uint64_t nanoseconds, const char* call, Left&& left) noexcept {
  const std::uint64_t rest = sleep_for(nanoseconds, call);
  left(rest);
  if (rest == 0) return 0;
  set_own_errno(EINTR);
  return -1;
}

/// Those of a select, which changes them, so that it is asked again with copies.
class Sets {
 public:
  Sets(fd_set* readable, fd_set* writable, fd_set* exceptional) noexcept
      : wanted_{readable, writable, exceptional} {
    for (int i = 0; i < 3; ++i) {
      if (wanted_[i] != nullptr) copies_[i] = *wanted_[i];
    }
  }
  void put_back() noexcept {
    for (int i = 0; i < 3; ++i) {
      if (wanted_[i] != nullptr) *wanted_[i] = copies_[i];
    }
  }
  int look(int count) noexcept {
    put_back();
    timeval now{};
    return ::select(count, wanted_[0], wanted_[1], wanted_[2], &now);
  }

 private:
  fd_set* const wanted_[3];
  fd_set copies_[3];
};

}  // namespace

void set_sleep_hooks(const SleepHooks& hooks) noexcept {
  the_hooks = hooks;
}

bool in_company() noexcept {
  // A handler runs in the middle of something: what it waits for it waits for as in a process.
  return the_hooks.in_company != nullptr && may_suspend() && the_hooks.in_company() &&
         !in_signal_handler(running_rank());
}

bool give_way() noexcept {
  const int error = own_errno();
  const bool given = the_hooks.give_way();
  set_own_errno(error);
  return given;
}

void rest_rank(std::uint64_t nanoseconds, const char* call) noexcept {
  suspend_rank(nanoseconds, call);
  deliver_signals(running_rank());
}

void suspend_rank(std::uint64_t nanoseconds, const char* call) noexcept {
  the_hooks.suspend(nanoseconds, call);
}

void wake_rank(int rank) noexcept {
  the_hooks.wake(rank);
}

[[gnu::noinline]] int own_errno() noexcept {
  return errno;
}
[[gnu::noinline]] void set_own_errno(int error) noexcept {
  errno = error;
}

bool may_offload() noexcept {
  return the_hooks.yields && in_company();
}

bool may_pass_to_pool() noexcept {
  return in_company();
}

extern "C" {

// The operating system's turn, too: what the rank waits for may be done by a process that shares the core.
int tmpi_sched_yield() {
  if (!in_company() || !give_way()) return ::sched_yield();
  return 0;
}

void tmpi_thrd_yield() {
  tmpi_sched_yield();
}

unsigned tmpi_sleep(unsigned seconds) {
  if (!in_company()) return ::sleep(seconds);
  return static_cast<unsigned>(sleep_for(seconds * kSecond, "sleep") / kSecond);
}

int tmpi_usleep(useconds_t microseconds) {
  if (!in_company()) return ::usleep(microseconds);
  if (sleep_for(std::uint64_t{microseconds} * 1000, "usleep") == 0) return 0;
  set_own_errno(EINTR);
  return -1;
}

int tmpi_clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* rest) {
  const bool known =
      clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
  if (!known || !is_valid(request) || !in_company()) return ::clock_nanosleep(clock, flags, request, rest);
  return sleep_by(clock, flags, request, rest, "clock_nanosleep");
}

int tmpi_nanosleep(const timespec* request, timespec* rest) {
  if (!is_valid(request) || !in_company()) return ::nanosleep(request, rest);
  const int error = sleep_by(CLOCK_MONOTONIC, 0, request, rest, "nanosleep");
  if (error == 0) return 0;
  set_own_errno(error);
  return -1;
}

int tmpi_thrd_sleep(const timespec* request, timespec* rest) {
  if (!is_valid(request) || !in_company()) return ::thrd_sleep(request, rest);
  return sleep_by(CLOCK_MONOTONIC, 0, request, rest, "thrd_sleep") == 0 ? 0 : -1;
}

int tmpi_pause() {
  if (!in_company()) return ::pause();
  the_hooks.sleep_until(kNoDeadline, "pause");
  set_own_errno(EINTR);
  return -1;
}

int tmpi_poll(pollfd* requests, nfds_t count, int milliseconds) {
  if (milliseconds == 0 || !in_company()) return ::poll(requests, count, milliseconds);
  if (!waits_for_time_only(requests, count)) {
    const auto call = [=] { return ::poll(requests, count, milliseconds); };
    if (!the_hooks.yields) return call();
    const int ready = ::poll(requests, count, 0);
    return ready != 0 ? ready : static_cast<int>(offload("poll", false, call));
  }
  for (nfds_t i = 0; i < count; ++i) requests[i].revents = 0;
  const std::uint64_t time =
      milliseconds < 0 ? kNoDeadline : static_cast<std::uint64_t>(milliseconds) * 1'000'000;
  return select_nothing(time, "poll", [](std::uint64_t) {});
}

int tmpi_poll_chk(pollfd* requests, nfds_t count, int milliseconds, std::size_t size) {
  if (size / sizeof(pollfd) < count) __builtin_trap();
  return tmpi_poll(requests, count, milliseconds);
}

int tmpi_ppoll(pollfd* requests, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  const auto call = [=] { return ::ppoll(requests, count, timeout, mask); };
  if ((timeout != nullptr && !is_valid(timeout)) || !in_company() || (mask != nullptr && !the_hooks.yields))
    return call();
  const std::uint64_t time = timeout == nullptr ? kNoDeadline : nanoseconds_of(*timeout);
  if (mask != nullptr) return wait_masked(*mask, time, "ppoll", [=] { return ::poll(requests, count, 0); });
  if (!waits_for_time_only(requests, count)) {
    if (!the_hooks.yields) return call();
    const int ready = ::poll(requests, count, 0);
    const bool looks = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    return ready != 0 || looks ? ready : static_cast<int>(offload("ppoll", false, call));
  }
  for (nfds_t i = 0; i < count; ++i) requests[i].revents = 0;
  return select_nothing(time, "ppoll", [](std::uint64_t) {});
}

int tmpi_ppoll_chk(pollfd* requests, nfds_t count, const timespec* timeout, const sigset_t* mask,
                   std::size_t size) {
  if (size / sizeof(pollfd) < count) __builtin_trap();
  return tmpi_ppoll(requests, count, timeout, mask);
}

int tmpi_select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* timeout) {
  const bool only_time =
      count >= 0 && is_empty(count, readable) && is_empty(count, writable) && is_empty(count, exceptional);
  if ((timeout != nullptr && (timeout->tv_sec < 0 || timeout->tv_usec < 0)) || !in_company())
    return ::select(count, readable, writable, exceptional, timeout);
  if (!only_time) {
    const auto call = [=] { return ::select(count, readable, writable, exceptional, timeout); };
    const bool looks = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_usec == 0;
    // It changes the sets, so that one cannot look first.
    return looks || !the_hooks.yields ? call() : static_cast<int>(offload("select", false, call));
  }
  const std::uint64_t time = timeout == nullptr
                                 ? kNoDeadline
                                 : nanoseconds_of({timeout->tv_sec + timeout->tv_usec / 1'000'000,
                                                   static_cast<long>(timeout->tv_usec % 1'000'000) * 1000});
  // Linux shows how much was left.
  return select_nothing(time, "select", [timeout](std::uint64_t rest) {
    if (timeout == nullptr) return;
    timeout->tv_sec = static_cast<time_t>(rest / kSecond);
    timeout->tv_usec = static_cast<suseconds_t>(rest % kSecond / 1000);
  });
}

int tmpi_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, const timespec* timeout,
                 const sigset_t* mask) {
  const bool only_time =
      count >= 0 && is_empty(count, readable) && is_empty(count, writable) && is_empty(count, exceptional);
  const auto call = [=] { return ::pselect(count, readable, writable, exceptional, timeout, mask); };
  if ((timeout != nullptr && !is_valid(timeout)) || !in_company() || (mask != nullptr && !the_hooks.yields))
    return call();
  const std::uint64_t time = timeout == nullptr ? kNoDeadline : nanoseconds_of(*timeout);
  if (mask != nullptr) {
    Sets sets{readable, writable, exceptional};
    const int ready = wait_masked(*mask, time, "pselect", [&] { return sets.look(count); });
    if (ready < 0) sets.put_back();
    return ready;
  }
  if (!only_time) {
    const bool looks = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    return looks || !the_hooks.yields ? call() : static_cast<int>(offload("pselect", false, call));
  }
  return select_nothing(time, "pselect", [](std::uint64_t) {});
}

}  // extern "C"

}  // namespace tmpi::privatize
