// Mover: how a worker hands its tasks over to others, and takes some of theirs (move.hpp, docs/design/load-balance.md). One per
// worker of a job whose tasks move; in others there is none, and nothing of this exists.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "sched/loop/run_loop.hpp"
#include "sched/move.hpp"
#include "sched/mover/balancer.hpp"
#include "sched/mover/opening.hpp"
#include "sched/sources/source.hpp"

namespace tmpi::sched {

using Opening = BasicOpening<System, Task>;
using Thieves = BasicThieves<System>;

class alignas(kCacheLine) Mover final : public Source {
 public:
  Mover(RunLoop& loop, LoopShared& shared, Thieves& thieves, Balancer& balancer) noexcept;

  // Any thread.
  int index() const noexcept { return loop_.index(); }
  RunLoop& loop() const noexcept { return loop_; }
  /// So often has a task come from another worker.
  std::uint64_t came() const noexcept { return came_.load(std::memory_order_relaxed); }
  /// It has admitted threads: no task comes or goes any more.
  bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// It computes, and others may take its tasks.
  bool is_open() const noexcept { return opening_.is_open(); }
  /// Another worker may take something here.
  bool invites() noexcept { return opening_.invites(loop_.parking()); }
  /// Something has been left in the inbox of this worker, which may be open.
  void invite(const Mover* but = nullptr) noexcept;
  Balancer& balancer() noexcept { return balancer_; }

  // The worker's thread.
  enum class Whose { kItsOwn, kThePlans };
  /// Moves the calling task. By its own wish: there it stays until a later plan says something else.
  Moved move(Task& self, Mover& to, Whose whose) noexcept TMPI_REQUIRES(inside_worker);
  /// What the running task has used since it was last accounted is added to its load.
  void account() noexcept TMPI_REQUIRES(inside_worker);
  /// The worker is in the flow of control of `task`, null: its own.
  void settle_in(const Task* task) noexcept { settled_.store(task, std::memory_order_release); }
  /// Threads are about to be admitted: no task comes or goes from now on.
  void close() noexcept TMPI_REQUIRES(inside_worker);

  // At a switch.
  /// One that has been sent here has come.
  void take_over(Task& task) noexcept TMPI_REQUIRES(inside_worker);
  /// Before the next task is chosen, and when it has been.
  void balance() noexcept TMPI_REQUIRES(inside_worker);
  void open_for(const Task& next) noexcept TMPI_REQUIRES(inside_worker);
  void close_opening() noexcept TMPI_REQUIRES(inside_worker);
  /// A task is ready, and the worker is open.
  void leave_for_others(Task& task) noexcept TMPI_REQUIRES(inside_worker);
  /// The running task has looked in vain for somebody else.
  void polled_in_vain() noexcept TMPI_REQUIRES(inside_worker);
  /// The running task looks for a message: who looks does not compute. False: it comes to a scheduling point instead.
  bool may_go_on() noexcept TMPI_REQUIRES(inside_worker);
  /// The task goes on after a wait.
  void move_after_wait(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  /// In the worker's own flow of control: hands over the task that has left for that; false: there is none.
  bool hand_over_left() noexcept TMPI_REQUIRES(inside_worker);

  // While it idles.
  void begin_idle() noexcept TMPI_REQUIRES(inside_worker);
  void end_idle() noexcept TMPI_REQUIRES(inside_worker);
  bool look() noexcept override TMPI_REQUIRES(inside_worker);
  bool look_again() noexcept override TMPI_REQUIRES(inside_worker);

 private:
  bool movable(const Task& task) const noexcept TMPI_REQUIRES(inside_worker);
  void rotate() noexcept TMPI_REQUIRES(inside_worker);
  void send_planned() noexcept TMPI_REQUIRES(inside_worker);
  bool is_worth_opening(const Task& next) const noexcept TMPI_REQUIRES(inside_worker);
  Mover& next_after(std::size_t distance) const noexcept;
  Mover* next_open() const noexcept;
  Mover* fullest_open() const noexcept;
  bool steal() noexcept TMPI_REQUIRES(inside_worker);
  void pass_invitation() noexcept;
  void receive(Task& task, Mover& from) noexcept TMPI_REQUIRES(inside_worker);
  void welcome(Task& task) noexcept;
  void send(Task& task, Mover& to) noexcept TMPI_REQUIRES(inside_worker);
  void follow_memory() noexcept TMPI_REQUIRES(inside_worker);
  bool deliver_left() const noexcept;
  void tell_moved(Task& task, const Mover& to) const noexcept;

  RunLoop& loop_;
  LoopShared& shared_;
  Thieves& thieves_;
  Balancer& balancer_;
  std::uint64_t began_ TMPI_GUARDED_BY(inside_worker) = 0;  // ticks when the running task was last accounted
  bool looked_ TMPI_GUARDED_BY(inside_worker) = false;      // that was when it looked for a message
  std::uint64_t plan_seen_ TMPI_GUARDED_BY(inside_worker) = 0;  // Balancer::plan_number()
  int departing_ TMPI_GUARDED_BY(inside_worker) = 0;  // at most so many tasks here are to move elsewhere
  unsigned misses_ TMPI_GUARDED_BY(inside_worker) = 0;
  Task* leaving_ TMPI_GUARDED_BY(inside_worker) = nullptr;  // has switched to the root, which hands it over
  Mover* leaving_to_ TMPI_GUARDED_BY(inside_worker) = nullptr;
  std::uint64_t idle_since_ TMPI_GUARDED_BY(inside_worker) = 0;  // ticks
  bool idling_ TMPI_GUARDED_BY(inside_worker) = false;
  bool owes_invitation_ TMPI_GUARDED_BY(inside_worker) = false;  // while it idles (opening.hpp)
  bool may_come_ TMPI_GUARDED_BY(inside_worker) = false;         // it is counted among the thieves
  std::atomic<bool> closed_{false};     // relaxed: who has missed it is told by its own worker
  std::atomic<std::uint64_t> came_{0};  // relaxed; written by any thread
  std::atomic<const Task*> settled_{
      nullptr};  // The task whose flow of control the worker is in, noted by that: who was
                 // left before it has been left. release: with its context.
  Opening opening_;
  // Ticks of work in its inbox that it has opened with and nobody has taken: by itself while it is closed, by others under
  // opening_'s lock; relaxed, a hint.
  std::atomic<std::uint64_t> offered_{0};
};

/// The inbox of a worker as a source: tasks that other threads have made ready, or sent here.
class Arrivals final : public Source {
 public:
  explicit Arrivals(RunLoop& loop) noexcept : Source(0, Cost::kMemory), loop_(loop) {}
  void set(Mover& mover) noexcept { mover_ = &mover; }
  bool look() noexcept override TMPI_REQUIRES(inside_worker) {
    if (loop_.diverted()) [[unlikely]]
      mover_->close_opening();
    loop_.door().entrance().drain([this](Task& task) TMPI_REQUIRES(inside_worker) {
      if (mover_ != nullptr && task.moving->fresh) [[unlikely]]
        mover_->take_over(task);
      loop_.make_ready_here(task);
    });
    return false;
  }

 private:
  RunLoop& loop_;
  Mover* mover_ = nullptr;
};

}  // namespace tmpi::sched
