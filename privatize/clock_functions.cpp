// Clocks as the program reads them: libc's own, and a note that somebody did (base/clock_watch.hpp); processor time is
// that of the rank. Bound to code in images only.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock_watch.hpp"
#include "privatize/live_threads.hpp"
#include "privatize/loader.hpp"
#include "privatize/processor_time.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// Of a rank in its node process: what the process's own clock shows would be all ranks'.
bool is_counted(int rank) noexcept {
  return rank >= 0 && !in_forked_child();
}

std::uint64_t nanoseconds_of(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}
timeval timeval_of(std::uint64_t nanoseconds) noexcept {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<suseconds_t>(nanoseconds % kSecond / 1000)};
}
timespec timespec_of(std::uint64_t nanoseconds) noexcept {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

/// `whole` as it is divided into time in the program and in the kernel on the calling thread, which is as much as is
/// known of a rank that shares it. Neither part ever goes back, as in Linux's own division of what it has measured.
void divide(std::uint64_t whole, ToldTimes& told, rusage& usage) noexcept {
  rusage thread{};
  getrusage(RUSAGE_THREAD, &thread);
  const auto user = static_cast<double>(nanoseconds_of(thread.ru_utime));
  const auto system = static_cast<double>(nanoseconds_of(thread.ru_stime));
  const double share = user + system > 0 ? system / (user + system) : 0;
  const std::uint64_t user_before = told.user.load(std::memory_order_relaxed);
  const std::uint64_t system_before = told.system.load(std::memory_order_relaxed);
  whole = std::max(whole, user_before + system_before);
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(whole));
  const std::uint64_t in_kernel = std::clamp(wanted, system_before, whole - user_before);
  told.system.store(in_kernel, std::memory_order_relaxed);
  told.user.store(whole - in_kernel, std::memory_order_relaxed);
  usage.ru_utime = timeval_of(whole - in_kernel);
  usage.ru_stime = timeval_of(in_kernel);
}

/// The times of a rank's process, the rest of the node process's.
void usage_of_rank(int rank, rusage& usage) noexcept {
  RankState* const state = rank_state(rank);
  if (state == nullptr) return;
  divide(processor_time_of_rank(rank), state->process_times, usage);
}

/// The same of its own flow of control as of a thread.
void usage_of_flow(int rank, rusage& usage) noexcept {
  RankState* const state = rank_state(rank);
  if (state == nullptr) return;
  divide(processor_time_of_flow(rank), state->flow_times, usage);
}

clock_t ticks_of(const timeval& time) noexcept {
  static const auto per_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<clock_t>(nanoseconds_of(time) / (kSecond / per_second));
}

}  // namespace

extern "C" int tmpi_clock_gettime(clockid_t clock, timespec* time) {
  note_clock_reading();
  if (clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID) [[likely]]
    return ::clock_gettime(clock, time);
  const int rank = running_rank();
  const bool of_thread = clock == CLOCK_THREAD_CPUTIME_ID;
  if (!is_counted(rank) || (of_thread && !on_own_flow(rank))) return ::clock_gettime(clock, time);
  *time = timespec_of(of_thread ? processor_time_of_flow(rank) : processor_time_of_rank(rank));
  return 0;
}

extern "C" int tmpi_getrusage(int whose, rusage* usage) {
  const int error = ::getrusage(static_cast<__rusage_who>(whose), usage);
  const int rank = running_rank();
  if (error != 0 || !is_counted(rank)) return error;
  if (whose == RUSAGE_SELF) usage_of_rank(rank, *usage);
  if (whose == RUSAGE_THREAD && on_own_flow(rank)) usage_of_flow(rank, *usage);
  return 0;
}

extern "C" int tmpi_clock_getcpuclockid(pid_t process, clockid_t* clock) {
  process = kernel_pid(process);
  if (process != 0 && process != getpid()) return ::clock_getcpuclockid(process, clock);
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

extern "C" int tmpi_pthread_getcpuclockid(pthread_t thread, clockid_t* clock) {
  if (!on_own_flow(running_rank()) || !pthread_equal(thread, pthread_self()))
    return ::pthread_getcpuclockid(thread, clock);
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

extern "C" int tmpi_gettimeofday(timeval* time, void* zone) {
  note_clock_reading();
  return ::gettimeofday(time, zone);
}

extern "C" time_t tmpi_time(time_t* time) {
  note_clock_reading();
  return ::time(time);
}

extern "C" int tmpi_timespec_get(timespec* time, int base) {
  note_clock_reading();
  return ::timespec_get(time, base);
}

extern "C" clock_t tmpi_clock() {
  note_clock_reading();
  const int rank = running_rank();
  if (!is_counted(rank)) return ::clock();
  return static_cast<clock_t>(processor_time_of_rank(rank) / (kSecond / CLOCKS_PER_SEC));
}

extern "C" clock_t tmpi_times(tms* times) {
  note_clock_reading();
  const clock_t now = ::times(times);
  const int rank = running_rank();
  if (times == nullptr || !is_counted(rank)) return now;
  rusage usage{};
  usage_of_rank(rank, usage);
  times->tms_utime = ticks_of(usage.ru_utime);
  times->tms_stime = ticks_of(usage.ru_stime);
  return now;
}

}  // namespace tmpi::privatize
