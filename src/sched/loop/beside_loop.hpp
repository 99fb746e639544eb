// What is beside a RunLoop, which asks for it where there is nothing to run, where something has come from elsewhere, or for
// one of its Reasons. Worker (worker.hpp) is that.
#pragma once

#include "sched/door/role.hpp"

namespace tmpi::sched {

struct Task;

class BesideLoop {
 protected:
  ~BesideLoop() = default;

  /// Something has come from elsewhere, or there is a Reason: next_ready() after a look at all that.
  virtual Task* next_of_all() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// Waits until there is a task to run; null: all have finished.
  virtual Task* idle() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// The running task gives up its turn, and nobody is ready: who has come meanwhile; null: nobody.
  virtual Task* look_for_another() noexcept TMPI_REQUIRES(inside_worker) = 0;
  virtual void look_outside() noexcept TMPI_REQUIRES(inside_worker) = 0;
  virtual bool lone_though_watchful() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// There is a Reason. The task, about to wait, need not; is to go on waiting; goes on after a switch back to it.
  virtual bool wakes_at_once(Task& self) noexcept TMPI_REQUIRES(inside_worker) = 0;
  virtual bool goes_on(Task& self) noexcept TMPI_REQUIRES(inside_worker) = 0;
  virtual void resumed(Task& self) noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// A task that is no rank's own flow of control is ready, or any while diverted().
  virtual void make_ready_specially(Task& task) noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// Tasks move, and one has been left in the inbox. Any thread.
  virtual void left_in_inbox() noexcept = 0;
  /// In the flow of control of a task that begins.
  virtual void begins(Task& task) noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// The root goes on: for a task that has left for it (true), or since all have finished.
  virtual bool root_goes_on() noexcept TMPI_REQUIRES(inside_worker) = 0;
  virtual void ended() noexcept = 0;
};

}  // namespace tmpi::sched
