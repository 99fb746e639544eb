#include "sched/loop/task_table.hpp"

#include <fmt/core.h>

#include <utility>

namespace tmpi::sched {

TaskTable::~TaskTable() {
  for (int i = 0; i < batches(); ++i)
    delete batches_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
}

Result<void> TaskTable::add(const ult::StackOptions& options) {
  const int number = batches();
  if (number == kMostBatches)
    return Failure{fmt::format("tasks have been added {} times: no more", number - 1)};
  auto stacks = ult::StackArena::create(options);
  if (!stacks) return stacks.failure();
  auto batch = std::make_unique<Batch>();
  batch->first = capacity();
  batch->count = options.count;
  batch->stacks = *std::move(stacks);
  batch->tasks = std::make_unique<Task[]>(static_cast<std::size_t>(options.count));
  for (int i = 0; i < options.count; ++i)
    batch->tasks[static_cast<std::size_t>(i)].id = static_cast<std::uint32_t>(batch->first + i);
  if (moves_) let_move(*batch);
  batches_[static_cast<std::size_t>(number)].store(batch.release(), std::memory_order_relaxed);
  count_.store(number + 1, std::memory_order_release);
  return {};
}

void TaskTable::let_move() {
  moves_ = true;
  for (int i = 0; i < batches(); ++i)
    let_move(*batches_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed));
}

void TaskTable::let_move(Batch& batch) {
  batch.moving = std::make_unique<Moving[]>(static_cast<std::size_t>(batch.count));
  for (int i = 0; i < batch.count; ++i)
    batch.tasks[static_cast<std::size_t>(i)].moving = &batch.moving[static_cast<std::size_t>(i)];
}

int TaskTable::capacity() const noexcept {
  const int count = batches();
  if (count == 0) return 0;
  const Batch& last = *batches_[static_cast<std::size_t>(count - 1)].load(std::memory_order_relaxed);
  return last.first + last.count;
}

const TaskTable::Batch& TaskTable::batch_of(int id) const noexcept {
  int low = 0;
  for (int high = batches(); high - low > 1;) {
    const int middle = (low + high) / 2;
    const Batch& batch = *batches_[static_cast<std::size_t>(middle)].load(std::memory_order_relaxed);
    (batch.first <= id ? low : high) = middle;
  }
  return *batches_[static_cast<std::size_t>(low)].load(std::memory_order_relaxed);
}

Task& TaskTable::at(int id) const noexcept {
  const Batch& batch = batch_of(id);
  return batch.tasks[static_cast<std::size_t>(id - batch.first)];
}

ult::Stack TaskTable::stack_of(int id) const noexcept {
  const Batch& batch = batch_of(id);
  return batch.stacks->stack(id - batch.first);
}

const Task* TaskTable::guard_page_owner(const void* address) const noexcept {
  for (int i = 0; i < batches(); ++i) {
    const Batch& batch = *batches_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
    const int index = batch.stacks->guard_owner(address);
    if (index >= 0) return &batch.tasks[static_cast<std::size_t>(index)];
  }
  return nullptr;
}

std::size_t TaskTable::stack_high_water(const Task& task) const noexcept {
  const Batch& batch = batch_of(static_cast<int>(task.id));
  return batch.stacks->high_water(static_cast<int>(task.id) - batch.first);
}

std::size_t TaskTable::stack_size() const noexcept {
  return batches() == 0 ? 0 : batches_[0].load(std::memory_order_relaxed)->stacks->size();
}

}  // namespace tmpi::sched
