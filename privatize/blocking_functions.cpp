// Waiting for somebody by means of libc: a mutex, a condition variable, a lock, a semaphore. Who is waited for is
// another thread of the rank, which may itself wait for a rank of this worker (docs/design/threads.md), or another rank, by
// memory that both have mapped. So a rank's own flow lets the worker's other ranks run. Bound to code in images only:
// the runtime's own locks are real ones.
//
// What libc marks with the thread that has it (mutexes, locks for readers and writers) only this thread may take: it
// tries again and again, with the other ranks in between, since nobody tells us when the other side is done. What is
// anybody's (semaphores, barriers) another thread waits for.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "privatize/offload.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/sleep_hooks.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

constexpr long kSecond = 1'000'000'000;  // ns

timespec now_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

timespec later(timespec time, long nanoseconds) noexcept {
  time.tv_nsec += nanoseconds;
  if (time.tv_nsec >= kSecond) {
    time.tv_nsec -= kSecond;
    ++time.tv_sec;
  }
  return time;
}

bool is_before(const timespec& a, const timespec& b) noexcept {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// A time that a wait ends at; null: it does not. What is no time never comes: libc says EINVAL when it is asked.
struct Deadline {
  clockid_t clock = CLOCK_REALTIME;
  const timespec* time = nullptr;

  bool is_valid() const noexcept {
    return time == nullptr || (time->tv_nsec >= 0 && time->tv_nsec < kSecond);
  }
  bool has_come() const noexcept { return time != nullptr && !is_before(now_of(clock), *time); }
};

/// The calling flow may wait so that others run: of its worker, or threads of its own.
bool may_wait() noexcept {
  return may_wait_for_threads() || may_offload();
}

constexpr timespec kPast{0, 0};

// How long each of many tries may take, and what is done between two. They become longer: ranks that have something to do
// come first, then the core rests. Bounded, since ranks of this worker are told by nobody, and other ranks' messages wait
// while its thread is blocked.
class Tries {
 public:
  Tries(const char* call, const Deadline& deadline) noexcept : call_(call), deadline_(deadline) {}

  /// The end of the next try, by the deadline's clock. It may last where there is no company: a thread of the rank's, which
  /// has what is wanted, then ends it.
  timespec end() const noexcept {
    constexpr long kTry = 500'000;  // ns
    if (number_ < kImpatient || in_company()) return kPast;
    const timespec end = later(now_of(deadline_.clock), kTry);
    return deadline_.time != nullptr && is_before(*deadline_.time, end) ? *deadline_.time : end;
  }
  /// SUSPENDS.
  void rest() noexcept {
    if (++number_ <= kImpatient || !in_company()) return static_cast<void>(give_way());
    rest_rank(std::min(kLongest, kShortest * (number_ - kImpatient)), call_);
  }

 private:
  static constexpr std::uint64_t kImpatient = 30;
  static constexpr std::uint64_t kShortest = 20'000;    // ns
  static constexpr std::uint64_t kLongest = 1'000'000;  // ns

  const char* const call_;
  const Deadline& deadline_;
  std::uint64_t number_ = 0;
};

/// Until attempt(), which may last up to the time that it is given, says something else than that it cannot be had:
/// that, or ETIMEDOUT.
template <class Attempt>
int keep_trying(const char* call, const Deadline& deadline, const Attempt& attempt) noexcept {
  const int error = own_errno();
  int result;
  for (Tries tries(call, deadline);; tries.rest()) {
    result = attempt(tries.end());
    const bool not_yet = result == EBUSY || result == EAGAIN || result == ETIMEDOUT;
    if (!not_yet) break;
    result = ETIMEDOUT;
    if (deadline.has_come()) break;
  }
  set_own_errno(error);
  return result;
}

// Of an owner's second lock trylock says no more than EBUSY; a lock by some time knows.
int lock_patiently(pthread_mutex_t* mutex, const Deadline& deadline) noexcept {
  return keep_trying("pthread_mutex_lock", deadline, [&](const timespec& end) {
    // ThreadSanitizer 12 does not know of the other.
    return deadline.clock == CLOCK_REALTIME ? ::pthread_mutex_timedlock(mutex, &end)
                                            : ::pthread_mutex_clocklock(mutex, deadline.clock, &end);
  });
}

// One rest, without the mutex; nobody is told by the condition variable, and the caller looks what has become of what it
// waits for, as it must in any case: these calls may return without cause.
int rest_without(pthread_mutex_t* mutex) noexcept {
  constexpr std::uint64_t kRest = 100'000;  // ns
  const int error = own_errno();
  if (const int refused = ::pthread_mutex_unlock(mutex); refused != 0) return refused;
  if (!give_way()) rest_rank(kRest, "pthread_cond_wait");
  set_own_errno(error);
  return lock_patiently(mutex, {});
}

/// Up to its deadline, which is near, in pieces between which others run. Who takes a new one each time, as Python's
/// interpreter lock does, would never see it come if the wait returned before. What is signalled between two pieces is
/// not seen: that costs the rest of a short wait.
int wait_out(pthread_cond_t* condition, pthread_mutex_t* mutex, const Deadline& deadline) noexcept {
  constexpr long kPiece = 100'000;  // ns
  do {
    const timespec piece = later(now_of(deadline.clock), kPiece);
    const timespec& end = is_before(piece, *deadline.time) ? piece : *deadline.time;
    if (const int error = ::pthread_cond_clockwait(condition, mutex, deadline.clock, &end);
        error != ETIMEDOUT)
      return error;
    if (const int refused = ::pthread_mutex_unlock(mutex); refused != 0) return refused;
    let_others_run();
    if (const int refused = lock_patiently(mutex, {}); refused != 0) return refused;
  } while (!deadline.has_come());
  return ETIMEDOUT;
}

bool is_near(const Deadline& deadline) noexcept {
  constexpr long kNear = 10'000'000;  // ns
  return deadline.time != nullptr && is_before(*deadline.time, later(now_of(deadline.clock), kNear));
}

int wait_on(pthread_cond_t* condition, pthread_mutex_t* mutex, const Deadline& deadline) noexcept {
  if (is_near(deadline)) return wait_out(condition, mutex, deadline);
  if (may_offload()) {
    if (deadline.has_come()) return ETIMEDOUT;
    const int error = rest_without(mutex);
    return error == 0 && deadline.has_come() ? ETIMEDOUT : error;
  }
  // Threads of its own do tell.
  constexpr long kShort = 200'000;  // ns
  timespec end = later(now_of(deadline.clock), kShort);
  const bool last = deadline.time != nullptr && is_before(*deadline.time, end);
  if (last) end = *deadline.time;
  const int error = ::pthread_cond_clockwait(condition, mutex, deadline.clock, &end);
  if (error != ETIMEDOUT || last) return error;
  ::pthread_mutex_unlock(mutex);
  let_others_run();
  return lock_patiently(mutex, {});
}

/// The clock of a condition variable; only glibc knows it, which keeps it there since 2.25.
clockid_t clock_of(const pthread_cond_t& condition) noexcept {
  constexpr unsigned kMonotonic = 2;
  return (condition.__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int try_lock(const char* call, pthread_rwlock_t* lock, const Deadline& deadline,
             int (*attempt)(pthread_rwlock_t*)) noexcept {
  return keep_trying(call, deadline, [=](const timespec&) { return attempt(lock); });
}

int wait_for(sem_t* semaphore, const char* name, const Deadline& deadline) noexcept {
  const int error = own_errno();
  if (::sem_trywait(semaphore) == 0) return 0;
  if (own_errno() != EAGAIN) return -1;
  set_own_errno(error);
  if (!deadline.is_valid()) {
    set_own_errno(EINVAL);
    return -1;
  }
  if (may_offload()) {
    return static_cast<int>(offload(name, true, [=] {
      return deadline.time == nullptr ? ::sem_wait(semaphore)
                                      : ::sem_clockwait(semaphore, deadline.clock, deadline.time);
    }));
  }
  const int result = keep_trying(name, deadline, [&](const timespec& end) {
    return ::sem_clockwait(semaphore, deadline.clock, &end) == 0 ? 0 : errno;
  });
  if (result == 0) return 0;
  set_own_errno(result);
  return -1;
}

int c11(int error) noexcept {
  if (error == 0) return thrd_success;
  return error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy : thrd_error;
}
// As glibc has it.
pthread_mutex_t* posix(mtx_t* mutex) noexcept {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) noexcept {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

// ---- Mutexes ----

int tmpi_pthread_mutex_lock(pthread_mutex_t* mutex) {
  const int error = ::pthread_mutex_trylock(mutex);
  if (error != EBUSY) return error;
  return may_wait() ? lock_patiently(mutex, {}) : ::pthread_mutex_lock(mutex);
}
int tmpi_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  const Deadline deadline{clock, time};
  if (!may_wait() || !deadline.is_valid()) return ::pthread_mutex_clocklock(mutex, clock, time);
  return lock_patiently(mutex, deadline);
}
int tmpi_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) {
  return tmpi_pthread_mutex_clocklock(mutex, CLOCK_REALTIME, time);
}
int tmpi_mtx_lock(mtx_t* mutex) {
  return c11(tmpi_pthread_mutex_lock(posix(mutex)));
}
int tmpi_mtx_timedlock(mtx_t* mutex, const timespec* time) {
  return c11(tmpi_pthread_mutex_timedlock(posix(mutex), time));
}
int tmpi_pthread_spin_lock(pthread_spinlock_t* lock) {
  if (::pthread_spin_trylock(lock) == 0) return 0;
  if (!may_wait()) return ::pthread_spin_lock(lock);
  return keep_trying("pthread_spin_lock", {}, [=](const timespec&) { return ::pthread_spin_trylock(lock); });
}

// ---- Condition variables ----

int tmpi_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!may_wait()) return ::pthread_cond_wait(condition, mutex);
  return wait_on(condition, mutex, {.clock = CLOCK_MONOTONIC});
}
int tmpi_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const timespec* time) {
  const Deadline deadline{clock, time};
  if (!may_wait() || !deadline.is_valid()) return ::pthread_cond_clockwait(condition, mutex, clock, time);
  return wait_on(condition, mutex, deadline);
}
int tmpi_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  if (!may_wait()) return ::pthread_cond_timedwait(condition, mutex, time);
  return tmpi_pthread_cond_clockwait(condition, mutex, clock_of(*condition), time);
}
int tmpi_cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return c11(tmpi_pthread_cond_wait(posix(condition), posix(mutex)));
}
int tmpi_cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  return c11(tmpi_pthread_cond_timedwait(posix(condition), posix(mutex), time));
}

// ---- Locks for readers and writers ----

int tmpi_pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time) {
  const Deadline deadline{clock, time};
  if (!may_offload() || !deadline.is_valid()) return ::pthread_rwlock_clockrdlock(lock, clock, time);
  return try_lock("pthread_rwlock_rdlock", lock, deadline, ::pthread_rwlock_tryrdlock);
}
int tmpi_pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time) {
  const Deadline deadline{clock, time};
  if (!may_offload() || !deadline.is_valid()) return ::pthread_rwlock_clockwrlock(lock, clock, time);
  return try_lock("pthread_rwlock_wrlock", lock, deadline, ::pthread_rwlock_trywrlock);
}
int tmpi_pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) {
  return tmpi_pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, time);
}
int tmpi_pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) {
  return tmpi_pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, time);
}
// libc takes the thread for the owner, and its second lock for a mistake (EDEADLK): another rank has it, perhaps.
int tmpi_pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  if (!may_offload()) return ::pthread_rwlock_rdlock(lock);
  return try_lock("pthread_rwlock_rdlock", lock, {}, ::pthread_rwlock_tryrdlock);
}
int tmpi_pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  if (!may_offload()) return ::pthread_rwlock_wrlock(lock);
  return try_lock("pthread_rwlock_wrlock", lock, {}, ::pthread_rwlock_trywrlock);
}

// ---- Semaphores, barriers ----

int tmpi_sem_wait(sem_t* semaphore) {
  return may_wait() ? wait_for(semaphore, "sem_wait", {}) : ::sem_wait(semaphore);
}
int tmpi_sem_timedwait(sem_t* semaphore, const timespec* time) {
  return may_wait() ? wait_for(semaphore, "sem_timedwait", {CLOCK_REALTIME, time})
                    : ::sem_timedwait(semaphore, time);
}
int tmpi_sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  return may_wait() ? wait_for(semaphore, "sem_clockwait", {clock, time})
                    : ::sem_clockwait(semaphore, clock, time);
}
int tmpi_pthread_barrier_wait(pthread_barrier_t* barrier) {
  if (!may_offload()) return ::pthread_barrier_wait(barrier);
  int result = 0;  // it has -1 for one that it distinguishes
  offload("pthread_barrier_wait", true, [&result, barrier] {
    result = ::pthread_barrier_wait(barrier);
    return 0L;
  });
  return result;
}

}  // extern "C"

}  // namespace tmpi::privatize
