#include <fmt/format.h>

#include "sched/process/node_scheduler.hpp"

namespace tmpi::sched {

Task& NodeScheduler::new_task(void* owner) {
  const int id = reserved_.fetch_add(1, std::memory_order_relaxed);
  if (id >= options_.tasks)
    fatal(fmt::format("more than the {} tasks announced to create()", options_.tasks));
  Task& task = tasks_.at(id);
  task.owner = owner;
  return task;
}

Task& NodeScheduler::spawn(int worker, void (*entry)(void*), void* arg, void* owner) {
  Task& task = new_task(owner);
  shared_.unfinished.fetch_add(1, std::memory_order_relaxed);
  settle(task, worker, entry, arg);
  spawned_.fetch_add(1, std::memory_order_release);
  make_ready(task);
  return task;
}

void NodeScheduler::settle(Task& task, int worker, void (*entry)(void*), void* argument) {
  task.entry = entry;
  task.argument = argument;
  task.stack = tasks_.stack_of(static_cast<int>(task.id));
  task.worker = shared_.workers[static_cast<std::size_t>(worker)].get();
  task.home = static_cast<std::uint16_t>(worker);
  task.worker->settle();
}

ult::StackOptions NodeScheduler::stacks_for(int tasks, std::span<const std::uintptr_t> ends) const {
  return {.count = tasks,
          .size = options_.stack_size,
          .least = options_.least_stack_size,
          .wide_guards = true,
          .executable = options_.exec_stacks,
          .ends = ends};
}

// Workers leave when there are no unfinished tasks, and do not come back. acq_rel as everybody who counts there.
bool NodeScheduler::extend_by(int tasks) noexcept {
  int unfinished = shared_.unfinished.load(std::memory_order_acquire);
  while (unfinished > 0) {
    if (shared_.unfinished.compare_exchange_weak(unfinished, unfinished + tasks, std::memory_order_acq_rel))
      return true;
  }
  return false;
}

Result<int> NodeScheduler::add(std::span<const NewTask> tasks) {
  const MutexLock lock(adding_);
  const int first = tasks_.capacity(), count = static_cast<int>(tasks.size());
  if (this->tasks() != first)
    return Failure{"ranks cannot be added before all that were announced are there"};
  if (first - options_.tasks + count > kMostAdded) {
    return Failure{fmt::format(
        "the node process has room for {} ranks beyond those that it began with, of which {} are taken",
        kMostAdded, first - options_.tasks)};
  }
  if (auto room = tasks_.add(stacks_for(count, {})); !room) return room.failure();
  for (int i = 0; i < count; ++i) {
    const NewTask& wanted = tasks[static_cast<std::size_t>(i)];
    Task& task = tasks_.at(first + i);
    task.owner = wanted.owner;
    settle(task, wanted.worker, wanted.entry, wanted.argument);
  }
  const bool extended = extend_by(count);
  for (int i = 0; i < count && !extended; ++i) tasks_.at(first + i).set_state(TaskState::kFinished);
  reserved_.fetch_add(count, std::memory_order_relaxed);
  spawned_.fetch_add(count, std::memory_order_release);
  if (!extended) return Failure{"all ranks of the node process have ended"};
  return first;
}

void NodeScheduler::drop(const Task& task) noexcept {
  const_cast<Task&>(task).set_state(TaskState::kFinished);
  task.worker->unsettle();
  shared_.unfinished.fetch_sub(1, std::memory_order_acq_rel);
  // Even if others have not finished: whoever sleeps last asks whether anybody can go on, and this one no longer can.
  for (Parking* parking : shared_.parkings) parking->wake();
}

Task& NodeScheduler::adopt_current_thread(void* owner) {
  if (options_.workers != 1) fatal("a thread can be adopted as the only worker, not as one of several");
  Task& task = new_task(owner);
  shared_.unfinished.fetch_add(1, std::memory_order_relaxed);
  spawned_.fetch_add(1, std::memory_order_release);
  shared_.workers[0]->adopt(task);
  return task;
}

void NodeScheduler::finish_current() {
  inside_worker.assume();
  Worker* worker = this_worker();
  if (worker == nullptr || worker->running() == nullptr) fatal("finish_current() outside of a task");
  if (worker->running()->entry == nullptr) fatal("finish_current() in an adopted thread: it ends by exit()");
  worker->finish();
}

const Task* NodeScheduler::guard_page_owner(const void* address) const {
  if (const Task* owner = tasks_.guard_page_owner(address)) return owner->entry != nullptr ? owner : nullptr;
  for (const auto& worker : shared_.workers) {
    if (const Task* helper = worker->helpers().guard_page_owner(address)) return helper;
  }
  return nullptr;
}

const Task* NodeScheduler::overflowed(const void* address, const void* stack_pointer) const {
  constexpr std::size_t kRedZone = 128;  // x86-64: a function may use so much below the stack pointer
  constexpr std::size_t kLargestFrame = std::size_t{1} << 32;  // beyond, the stack pointer is no such thing
  const Task* self = current();
  if (self == nullptr || self->stack.base == nullptr || self->kind == TaskKind::kThread) return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(self->stack.base);
  // The guard above its stack is another's.
  if (at < base && guard_page_owner(address) != nullptr) return self;
  return at < base && base - at <= kLargestFrame &&
                 at + kRedZone >= reinterpret_cast<std::uintptr_t>(stack_pointer)
             ? self
             : nullptr;
}

std::size_t NodeScheduler::stack_high_water(const Task& task) const {
  return task.entry == nullptr ? 0 : tasks_.stack_high_water(task);  // an adopted thread's stack is not ours
}

}  // namespace tmpi::sched
