// Waiting for another thread of the rank, by means of libc: a mutex, a condition variable, a semaphore. On a
// rank's own flow this lets the worker's other ranks run, since the thread that is waited for may itself wait
// for one of them (docs/threads.md). Bound to code in images only: the runtime's own locks are real ones. A
// wait is a sequence of short ones with the other ranks in between, since nobody tells us when the other side
// is done.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <cerrno>

#include "privatize/runtime_functions.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

// Becomes longer: ranks that have something to do come first, then the core rests. Bounded, since other
// ranks' messages wait meanwhile.
class Patience {
 public:
  /// The end of the next short wait, by `clock`.
  timespec next(clockid_t clock) noexcept {
    constexpr int kImpatient = 50;
    constexpr long kLongest = 500'000;  // ns
    timespec end{};
    clock_gettime(clock, &end);
    if (++waits_ > kImpatient) end.tv_nsec += kLongest;
    if (end.tv_nsec >= 1'000'000'000) {
      end.tv_nsec -= 1'000'000'000;
      ++end.tv_sec;
    }
    return end;
  }

 private:
  int waits_ = 0;
};

}  // namespace

extern "C" int tmpi_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (!may_wait_for_threads()) return ::pthread_mutex_lock(mutex);
  int error = ::pthread_mutex_trylock(mutex);
  // Of an owner's second lock trylock says no more than EBUSY; timedlock knows.
  for (Patience patience; error == EBUSY || error == ETIMEDOUT;) {
    const timespec end = patience.next(CLOCK_REALTIME);
    error = ::pthread_mutex_timedlock(mutex, &end);
    if (error == ETIMEDOUT) let_others_run();
  }
  return error;
}

// May return without cause, as a condition variable may.
extern "C" int tmpi_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!may_wait_for_threads()) return ::pthread_cond_wait(condition, mutex);
  constexpr long kShort = 200'000;  // ns
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += kShort;
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  const int error = ::pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &end);
  if (error != ETIMEDOUT) return error;
  ::pthread_mutex_unlock(mutex);
  let_others_run();
  return tmpi_pthread_mutex_lock(mutex);
}

extern "C" int tmpi_sem_wait(sem_t* semaphore) {
  if (!may_wait_for_threads()) return ::sem_wait(semaphore);
  for (Patience patience;;) {
    const timespec end = patience.next(CLOCK_REALTIME);
    if (::sem_timedwait(semaphore, &end) == 0) return 0;
    if (errno != ETIMEDOUT) return -1;
    let_others_run();
  }
}

}  // namespace tmpi::privatize
