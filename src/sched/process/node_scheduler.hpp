// NodeScheduler: the scheduler of a node process. What sets it up and runs it is in node_scheduler.cpp, its tasks in
// node_tasks.cpp, what others hang into it and read from it in node_hooks.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "sched/loop/task_table.hpp"
#include "sched/machine/topology.hpp"
#include "sched/progress/progress_threads.hpp"
#include "sched/scheduler.hpp"
#include "sched/slot.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {

/// A limit of the system: nothing is wrong with the runtime.
[[noreturn]] void end_at_limit(const std::string& text);
/// A broken promise of the runtime itself, not of the user.
[[noreturn]] void fatal(const std::string& text);

class NodeScheduler final : public Scheduler {
 public:
  explicit NodeScheduler(const Options& options) : options_(options) {}
  ~NodeScheduler() override;
  Result<void> set_up();
  const Balancer* balancer() const noexcept { return shared_.balancer.get(); }

  Task& spawn(int worker, void (*entry)(void*), void* arg, void* owner) override;
  Task& adopt_current_thread(void* owner) override;
  void run() override;
  void finish_current() override;
  void set_switch_hook(SwitchHook hook) override;
  void set_event_source(const EventSource& source) override;
  void meter_switches() noexcept override;
  void observe_switches(SwitchObserver observer) override;
  bool set_drain_hook(DrainHook hook) override;
  void set_stall_hook(StallHook hook) override { shared_.stall.set(hook); }
  void set_move_hooks(const MoveHooks& hooks) override {
    if (shared_.balancer != nullptr) shared_.balancer->set_hooks(hooks);
  }
  bool is_open(int worker) const noexcept override {
    return !shared_.movers.empty() && shared_.movers[static_cast<std::size_t>(worker)]->is_open();
  }
  std::uint64_t moves_to(int worker) const override {
    return shared_.movers.empty() ? 0 : shared_.movers[static_cast<std::size_t>(worker)]->came();
  }
  void set_memory_hook(MemoryHook hook) override {
    if (shared_.balancer == nullptr) return;
    if (Follower* follower = shared_.balancer->follower()) follower->set_hook(hook);
  }
  void set_interrupt_hook(InterruptHook hook) override { shared_.interrupt_hook = hook; }
  void set_poll_hook(PollHook hook, double period) override {
    shared_.polls.set(hook, period, *this, options_.tasks + kMostAdded);
  }
  Result<int> add(std::span<const NewTask> tasks) override;
  void start(const Task& task) noexcept override { make_ready(const_cast<Task&>(task)); }
  void drop(const Task& task) noexcept override;
  int residents(int worker) const override {
    return shared_.workers[static_cast<std::size_t>(worker)]->residents();
  }
  void admit_threads() noexcept override;
  void wake_if_parked(int worker) noexcept override {
    shared_.parkings[static_cast<std::size_t>(worker)]->wake_if_parked();
  }
  AssistPoint& assist_point(int worker) noexcept override {
    return shared_.workers[static_cast<std::size_t>(worker)]->idling().assist_point();
  }
  int workers() const override { return options_.workers; }
  int worker_of(const Task& task) const override { return task.worker->index(); }
  bool oversubscribed() const override { return shared_.oversubscribed; }
  std::vector<std::string> bindings() const override;
  bool progress_spins() const override { return progress_threads_ && progress_ == Progress::kCore; }
  std::vector<std::string> progress_bindings() const override;
  int tasks() const override { return spawned_.load(std::memory_order_acquire); }
  const Task& task(int id) const override { return tasks_.at(id); }
  const Task* guard_page_owner(const void* address) const override;
  const Task* overflowed(const void* address, const void* stack_pointer) const override;
  std::size_t stack_size() const override { return tasks_.stack_size(); }
  std::size_t stack_high_water(const Task& task) const override;
  std::uint64_t held(int worker) const override {
    return shared_.workers[static_cast<std::size_t>(worker)]->held();
  }
  int ready(int worker) const override { return shared_.workers[static_cast<std::size_t>(worker)]->ready(); }
  std::uint64_t switches() const override;
  std::uint64_t activity() const override;
  Slot slot_of(int worker) noexcept {
    Worker& one = *shared_.workers[static_cast<std::size_t>(worker)];
    return {one.switches(), one.thread(), one.ready() > 0 || !one.parking().empty()};
  }

 private:
  Result<void> make_workers();
  void choose_progress();
  void start_progress();
  Result<void> balance();
  std::vector<int> numa_nodes() const;
  Task& new_task(void* owner);
  void settle(Task& task, int worker, void (*entry)(void*), void* argument);
  ult::StackOptions stacks_for(int tasks, std::span<const std::uintptr_t> ends) const;
  bool extend_by(int tasks) noexcept;
  void run_worker(int index);

  bool workers_share() const;
  int cores_of_workers() const noexcept { return options_.workers * options_.cores_per_worker; }
  std::span<const Place> places_of(int worker) const {
    return topology_->places_of(worker, options_.cores_per_worker);
  }

  const Options options_;
  std::optional<Topology> topology_;
  Progress progress_ = Progress::kPoll;  // as it is done
  std::vector<Place> progress_places_;   // kCore
  Bias bias_;
  std::optional<ProgressThreads> progress_threads_;
  TaskTable tasks_;
  Mutex adding_;
  std::atomic<int> reserved_{0};  // ids handed out
  std::atomic<int> spawned_{0};   // tasks [0, spawned_) are complete enough for state dumps
  Shared shared_;
};

/// It is the process's no longer, if it was (scheduler.cpp).
void forget(const NodeScheduler& scheduler) noexcept;

}  // namespace tmpi::sched
