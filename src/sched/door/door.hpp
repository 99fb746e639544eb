// Door: who may be inside a worker: its own thread, threads of its ranks (thread_task.hpp), and the one that runs helper
// fibers while its own thread computes. One at a time; how they come in, park and are woken is Entrance's.
#pragma once

#include <memory>
#include <utility>

#include "sched/door/entrance.hpp"
#include "sched/door/role.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

using Entrance = BasicEntrance<System, Task>;
using Parking = Entrance::Parking;

/// Runs the worker's helper fibers while its own thread computes: attendant.hpp. All but stop() is called inside.
class Attending {
 public:
  virtual ~Attending() = default;
  /// A helper fiber has suspended.
  virtual void expect() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// The worker is left to user code, or to sleep.
  virtual void take_over() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// It is the calling thread.
  virtual bool runs_here() const noexcept = 0;
  /// When the worker's own thread has ended, or never begun. Any thread.
  virtual void stop() noexcept = 0;
};

class Door {
 public:
  explicit Door(Parking::Shared& shared) noexcept : entrance_(shared) {}

  Entrance& entrance() noexcept { return entrance_; }
  Parking& parking() noexcept { return entrance_.parking(); }

  /// Threads are let in; and those of ranks, not the attendant alone.
  bool admits() const noexcept { return entrance_.admits(); }
  bool admits_ranks() const noexcept { return admits() && !only_attended_; }
  /// In admits_ranks().
  void expect_ranks(bool expected) noexcept { only_attended_ = !expected; }

  /// Null: there is none.
  Attending* attendant() noexcept { return attendant_.get(); }
  void have(std::unique_ptr<Attending> attendant) noexcept { attendant_ = std::move(attendant); }
  bool attended_here() const noexcept { return attendant_ != nullptr && attendant_->runs_here(); }

  /// Back to user code, or to sleep. `host`: entrance.hpp.
  template <class Host>
  void leave(Host& host) noexcept TMPI_REQUIRES(inside_worker) {
    if (attendant_ != nullptr) [[unlikely]]
      attendant_->take_over();
    entrance_.leave(host);
  }

 private:
  std::unique_ptr<Attending> attendant_;
  bool only_attended_ = false;
  Entrance entrance_;
};

}  // namespace tmpi::sched
