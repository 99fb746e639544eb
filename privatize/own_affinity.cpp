#include "privatize/own_affinity.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "privatize/live_threads.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

/// What the kernel makes of the wish: without cores that do not exist or that the process may not use. It is asked by
/// the calling thread, which is then put back. 0, or -1 with errno.
int as_allowed(std::size_t size, const cpu_set_t* wish, CoreSet& allowed) noexcept {
  CoreSet before{};
  if (::sched_getaffinity(0, sizeof before, before.set()) != 0) return -1;
  if (::sched_setaffinity(0, size, wish) != 0) return -1;
  const int error = ::sched_getaffinity(0, sizeof allowed, allowed.set());
  ::sched_setaffinity(0, sizeof before, before.set());
  return error;
}

/// The calling rank, if a thread that is called `thread` is its own flow of control; -1: the kernel's business.
int whose_flow(pid_t thread) noexcept {
  const int rank = running_rank();
  if (rank < 0 || in_forked_child()) return -1;
  const bool named = (thread == 0 && on_own_flow(rank)) || (thread > 0 && thread == getpid()) ||
                     (thread > 0 && thread == thread_of_rank(rank));
  return named ? rank : -1;
}
int whose_flow(pthread_t thread) noexcept {
  const int rank = running_rank();
  if (rank < 0 || in_forked_child()) return -1;
  const bool own = on_own_flow(rank) ? pthread_equal(thread, pthread_self()) != 0 : !is_live_thread(thread);
  return own ? rank : -1;
}

}  // namespace

int choose_cores(int rank, std::size_t size, const cpu_set_t* cores) noexcept {
  RankState* const state = rank_state(rank);
  std::unique_ptr<CoreSet> chosen(new (std::nothrow) CoreSet{});
  if (state == nullptr || chosen == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  if (as_allowed(size, cores, *chosen) != 0) return -1;
  {
    const std::lock_guard guard(state->lock);
    state->cores.swap(chosen);
  }
  tell_of_choice(rank);
  return 0;
}

bool chosen_cores(int rank, std::size_t size, cpu_set_t* cores) noexcept {
  RankState* const state = rank_state(rank);
  if (state == nullptr) return false;
  const std::lock_guard guard(state->lock);
  if (state->cores == nullptr) return false;
  std::memset(cores, 0, size);
  std::memcpy(cores, state->cores.get(), std::min(size, sizeof(CoreSet)));
  return true;
}

void follow_choice(int rank) noexcept {
  CoreSet cores{};
  if (chosen_cores(rank, sizeof cores, cores.set())) ::sched_setaffinity(0, sizeof cores, cores.set());
}

extern "C" int tmpi_sched_setaffinity(pid_t thread, std::size_t size, const cpu_set_t* cores) {
  thread = kernel_tid(thread);
  const int rank = whose_flow(thread);
  return rank < 0 ? ::sched_setaffinity(thread, size, cores) : choose_cores(rank, size, cores);
}

extern "C" int tmpi_sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cores) {
  thread = kernel_tid(thread);
  const int rank = whose_flow(thread);
  if (rank < 0) return ::sched_getaffinity(thread, size, cores);
  // Its worker's, also for a thread that asks about the process.
  if (::sched_getaffinity(thread_of_rank(rank), size, cores) != 0) return -1;
  chosen_cores(rank, size, cores);
  return 0;
}

long syscall_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cores) noexcept {
  thread = kernel_tid(thread);
  const int rank = whose_flow(thread);
  const long bytes = ::syscall(SYS_sched_getaffinity, rank < 0 ? thread : thread_of_rank(rank), size, cores);
  if (rank >= 0 && bytes > 0) chosen_cores(rank, static_cast<std::size_t>(bytes), cores);
  return bytes;
}

extern "C" int tmpi_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* cores) {
  const int rank = whose_flow(thread);
  if (rank < 0) return ::pthread_setaffinity_np(thread, size, cores);
  const int before = errno;
  const int error = choose_cores(rank, size, cores) == 0 ? 0 : errno;
  errno = before;
  return error;
}

extern "C" int tmpi_pthread_getaffinity_np(pthread_t thread, std::size_t size, cpu_set_t* cores) {
  const int rank = whose_flow(thread);
  if (rank < 0) return ::pthread_getaffinity_np(thread, size, cores);
  const int before = errno;
  const int error = tmpi_sched_getaffinity(thread_of_rank(rank), size, cores) == 0 ? 0 : errno;
  errno = before;
  return error;
}

// The stack that the rank runs on is none that libc knows.
extern "C" int tmpi_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  const int rank = whose_flow(thread);
  const RankState* const state = rank < 0 ? nullptr : rank_state(rank);
  if (state == nullptr || state->stack == nullptr) return ::pthread_getattr_np(thread, attributes);
  if (const int error = pthread_attr_init(attributes); error != 0) return error;
  CoreSet cores{};
  int error = pthread_attr_setstack(attributes, state->stack, state->stack_bytes);
  if (error == 0) error = pthread_attr_setguardsize(attributes, 0);  // as of a process's first thread
  if (error == 0 && tmpi_pthread_getaffinity_np(thread, sizeof cores, cores.set()) == 0)
    error = pthread_attr_setaffinity_np(attributes, sizeof cores, cores.set());
  if (error != 0) pthread_attr_destroy(attributes);
  return error;
}

}  // namespace tmpi::privatize
