// The timers of ranks: kernel timers that send their signals to the thread of the rank's worker. What a signal
// carries says whose it is; the rank sees what it has asked for.
#include "privatize/shim/host/rank_timers.hpp"

#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "base/no_signals.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/named_records.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::shim {
namespace {

constexpr int kItimers = 3;  // ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF
constexpr int kItimerSignals[kItimers] = {SIGALRM, SIGVTALRM, SIGPROF};

struct Timer : NamedRecord {
  timer_t kernel{};
  bool of_setitimer = false;
  sigval value{};                      // what the rank wants to see
  void (*function)(sigval) = nullptr;  // SIGEV_THREAD
};

std::mutex change;  // without signals: guards making and deleting
NamedRecords<Timer, 0x746d> timers;

// SIGEV_THREAD: libc starts a thread for each expiry.
void run_thread(sigval value) noexcept {
  const Timer* const timer = timers.named(value);
  if (timer == nullptr) return;
  const int rank = timer->rank.load(std::memory_order_acquire);
  if (rank < 0) return;
  privatize::become_helper(rank);
  timer->function(timer->value);
}

/// Under `change`. Makes a kernel timer whose signals are the rank's; 0 or an error.
int make(int rank, clockid_t clock, const sigevent& event, bool of_setitimer, int* index) noexcept {
  *index = timers.take();
  if (*index < 0) return EAGAIN;
  Timer& timer = *timers.at(*index);
  sigevent ours = event;
  ours.sigev_value = timers.name(*index);
  timer.value = event.sigev_value;
  timer.of_setitimer = of_setitimer;
  if (event.sigev_notify == SIGEV_SIGNAL) {
    ours.sigev_notify = SIGEV_THREAD_ID;
    ours._sigev_un._tid = privatize::thread_of_rank(rank);
  } else if (event.sigev_notify == SIGEV_THREAD) {
    timer.function = event.sigev_notify_function;
    ours.sigev_notify_function = &run_thread;
  }
  timer.rank.store(rank, std::memory_order_release);
  if (::timer_create(clock, &ours, &timer.kernel) == 0) return 0;
  const int error = errno;
  timers.give_back(timer);
  return error;
}

struct Itimers {
  int index[kItimers] = {-1, -1, -1};
};
privatize::RankTable<Itimers> itimers;

/// The processor time of the rank's worker: its user's part, or all.
clockid_t clock_of(int which, int rank) noexcept {
  if (which == ITIMER_REAL) return CLOCK_MONOTONIC;
  // As the kernel builds it (clock_getcpuclockid(3) does so for processes): ~thread, per thread, kind.
  constexpr int kPerThread = 4, kProf = 0, kVirtual = 1;
  return static_cast<clockid_t>(~static_cast<unsigned>(privatize::thread_of_rank(rank)) << 3) | kPerThread |
         (which == ITIMER_PROF ? kProf : kVirtual);
}

/// The rank's timer of that kind; made if `wanted`. Null: there is none, because of `error` if that is not 0.
Timer* itimer(int rank, int which, bool wanted, int& error) noexcept {
  error = 0;
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  Itimers* const own = itimers.get(rank);
  if (own == nullptr) {
    error = EAGAIN;
    return nullptr;
  }
  int& index = own->index[which];
  if (index < 0 && wanted) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = kItimerSignals[which];
    error = make(rank, clock_of(which, rank), event, true, &index);
    if (error != 0) index = -1;
  }
  return timers.at(index);
}

bool is_valid(const timeval& time) noexcept {
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < 1'000'000;
}
timespec precise(const timeval& time) noexcept {
  return {time.tv_sec, time.tv_usec * 1000};
}
// Rounded up: what runs has time left.
timeval coarse(const timespec& time) noexcept {
  const long microseconds = (time.tv_nsec + 999) / 1000;
  return {time.tv_sec + microseconds / 1'000'000, microseconds % 1'000'000};
}
itimerval coarse(const itimerspec& value) noexcept {
  return {coarse(value.it_interval), coarse(value.it_value)};
}

}  // namespace

int rank_of_timer(siginfo_t& info) noexcept {
  if (info.si_code != SI_TIMER || !timers.is_name(info.si_value)) return kNoTimer;
  const Timer* const timer = timers.named(info.si_value);
  const int rank = timer == nullptr ? -1 : timer->rank.load(std::memory_order_acquire);
  if (rank < 0) return kDeletedTimer;
  info.si_value = timer->value;
  if (timer->of_setitimer) info.si_code = SI_KERNEL;
  return rank;
}

bool has_timers(int rank) noexcept {
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  for (int i = 0; i < timers.count(); ++i) {
    if (timers.at(i)->rank.load(std::memory_order_relaxed) == rank) return true;
  }
  return false;
}

void delete_timers(int rank) noexcept {
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  for (int i = 0; i < timers.count(); ++i) {
    Timer& timer = *timers.at(i);
    if (timer.rank.load(std::memory_order_relaxed) != rank) continue;
    ::timer_delete(timer.kernel);
    timers.give_back(timer);
  }
}

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" int tmpi_shim_setitimer(int rank, int which, const struct itimerval* value,
                                   struct itimerval* old) {
  if (which < 0 || which >= kItimers ||
      (value != nullptr && (!is_valid(value->it_value) || !is_valid(value->it_interval)))) {
    errno = EINVAL;
    return -1;
  }
  const itimerval none{};
  if (value == nullptr) value = &none;
  const bool stops = value->it_value.tv_sec == 0 && value->it_value.tv_usec == 0;
  int error = 0;
  Timer* const timer = itimer(rank, which, !stops, error);
  if (timer == nullptr && error != 0) {
    errno = error;
    return -1;
  }
  if (timer == nullptr) {
    if (old != nullptr) *old = none;
    return 0;
  }
  const itimerspec wanted = {precise(value->it_interval), precise(value->it_value)};
  itimerspec before{};
  if (::timer_settime(timer->kernel, 0, &wanted, &before) != 0) return -1;
  if (old != nullptr) *old = coarse(before);
  return 0;
}

extern "C" int tmpi_shim_getitimer(int rank, int which, struct itimerval* value) {
  if (which < 0 || which >= kItimers) {
    errno = EINVAL;
    return -1;
  }
  int error = 0;
  const Timer* const timer = itimer(rank, which, false, error);
  itimerspec now{};
  if (timer != nullptr && ::timer_gettime(timer->kernel, &now) != 0) return -1;
  *value = coarse(now);
  return 0;
}

extern "C" int tmpi_shim_timer_create(int rank, clockid_t clock, struct sigevent* event, timer_t* timer) {
  sigevent usual{};  // the timer's number is what its signals carry
  usual.sigev_notify = SIGEV_SIGNAL;
  usual.sigev_signo = SIGALRM;
  const sigevent& wanted = event != nullptr ? *event : usual;
  const tmpi::NoSignals no_signals;
  const std::lock_guard guard(change);
  int index = -1;
  if (const int error = make(rank, clock, wanted, false, &index); error != 0) {
    errno = error;
    return -1;
  }
  *timer = timers.at(index)->kernel;
  if (event == nullptr) timers.at(index)->value.sival_ptr = *timer;
  return 0;
}

extern "C" int tmpi_shim_timer_delete(int rank, timer_t timer) {
  const tmpi::NoSignals no_signals;
  const std::lock_guard guard(change);
  for (int i = 0; i < timers.count(); ++i) {
    Timer& one = *timers.at(i);
    if (one.rank.load(std::memory_order_relaxed) == rank && one.kernel == timer && !one.of_setitimer) {
      timers.give_back(one);
      break;
    }
  }
  return ::timer_delete(timer);
}
