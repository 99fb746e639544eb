#include "sched/sources/interrupts.hpp"

#include "sched/sleep.hpp"

namespace tmpi::sched {

void Interrupts::interrupt(Task& task) noexcept {
  // Counted first: who sees the mark has a reason to look for it.
  loop_.reasons().count_marked(Reasons::kMarked);
  // seq_cst pairs with pop_urgent(): either that finds the task interrupted, or this finds it in no list.
  if (task.interrupted.exchange(true, std::memory_order_seq_cst))
    loop_.reasons().count_marked(-Reasons::kMarked);
  if (!task.interrupt_queued.exchange(true, std::memory_order_seq_cst)) {
    Task* first = interrupted_.load(std::memory_order_relaxed);
    do {
      task.next_interrupted = first;
      // release pairs with look().
    } while (!interrupted_.compare_exchange_weak(first, &task, std::memory_order_release,
                                                 std::memory_order_relaxed));
  }
  loop_.parking().wake();
}

bool Interrupts::look() noexcept {
  if (interrupted_.load(std::memory_order_relaxed) == nullptr) return false;
  Task* task = interrupted_.exchange(nullptr, std::memory_order_acquire);
  while (task != nullptr) {
    Task* const after = task->next_interrupted;
    task->next_interrupted = urgent_;
    urgent_ = task;
    task = after;
  }
  return false;
}

Task* Interrupts::pop_urgent() noexcept {
  while (urgent_ != nullptr) {
    Task* const task = urgent_;
    urgent_ = task->next_interrupted;
    // In this order: an interrupt from here on puts it into the list again. seq_cst pairs with interrupt().
    task->interrupt_queued.store(false, std::memory_order_seq_cst);
    if (task->worker != &loop_) [[unlikely]] {
      // It has moved since. What it finds itself when it goes on there need not be told.
      if (task->interrupted.load(std::memory_order_seq_cst)) sched::interrupt(*task);
      continue;
    }
    const TaskState state = task->get_state();
    if (state == TaskState::kFinished) loop_.reasons().take_mark(*task);
    if (state != TaskState::kBlocked || !task->interrupted.load(std::memory_order_seq_cst)) continue;
    task->resumed_early = true;
    return task;
  }
  return nullptr;
}

// The list may hold only tasks that have been interrupted while they ran, or have been served since.
bool Interrupts::has_one() noexcept {
  Task* const task = pop();
  if (task == nullptr) return false;
  task->resumed_early = false;
  // Interrupted again meanwhile: it is in the other list.
  if (!task->interrupt_queued.exchange(true, std::memory_order_seq_cst)) {
    task->next_interrupted = urgent_;
    urgent_ = task;
  }
  return true;
}

}  // namespace tmpi::sched
