// ProgressThreads: threads that are no workers and poll the event source (progress.hpp). Internal to sched.
//
// The sleeping kind. Workers look at the source whenever they come by, and while they idle; a thread that also
// looked would only be in their way, and a wake-up of it costs some microseconds of somebody's core. So it
//
//     watches   at the event source while something is expected and every worker computes. It is the watcher then
//               (parking.hpp), so that a worker which falls asleep meanwhile does not watch in addition. It stops
//               when it is woken and finds that a worker looks for itself, or nothing is expected any more.
//     sleeps    else, until call_progress(): something is expected anew, or a worker goes to work. Nothing wakes it
//               while nothing is under way.
//     rests     if it has not been of use lately, as between ranks that exchange small messages all the time: is not
//               called then, but looks itself after 50 us, 100 us, ..., 4 ms whether all compute, and every 16 ms where
//               workers look all the time.
//
// When it does which is in progress_loop.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "sched/door/eventcount.hpp"
#include "sched/machine/topology.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::sched {

struct Shared;

class ProgressThreads {
 public:
  ProgressThreads(Shared& shared, const EventSource& source) noexcept : shared_(shared), source_(source) {}
  ~ProgressThreads() { stop(); }
  ProgressThreads(const ProgressThreads&) = delete;

  /// One that sleeps. Throws std::system_error if there can be no thread.
  void start_sleeping();
  /// One for each place, pinned there, that spins. `places` may hold a null pointer: not pinned.
  void start_spinning(const std::vector<Place>& places, bool bind);
  void stop() noexcept;
  /// Wakes the sleeping one.
  void call() noexcept { eventcount_.notify(); }

 private:
  class Sleeper;
  void serve() noexcept;
  void spin(bool own_core) noexcept;

  Shared& shared_;
  const EventSource source_;
  std::atomic<bool> stopping_{false};
  Eventcount eventcount_;
  std::vector<std::thread> threads_;
};

}  // namespace tmpi::sched
