#include "sched/loop/helper_pool.hpp"

#include <new>

#include "sched/move.hpp"

namespace tmpi::sched {
namespace {

// What a helper fiber runs for ever: the work it is given, then the wait for more.
void serve(void* argument) {
  inside_worker.assume();
  HelperFiber& self = *static_cast<HelperFiber*>(argument);
  for (;;) {
    self.work(self.work_argument);
    unanchor(*self.rank_task);
    self.pool->give_back(self);
    self.worker->block(self);
  }
}

}  // namespace

bool HelperPool::grow() noexcept {
  std::size_t index = 0;
  while (index < kMostChunks && chunks_[index].load(std::memory_order_relaxed) != nullptr) ++index;
  if (index == kMostChunks) return false;
  const int count = kFirst << index;
  if (!worker_.queue().reserve(count)) return false;
  std::unique_ptr<ult::StackArena> stacks;
  try {
    auto created = ult::StackArena::create({.count = count, .size = stack_size_, .executable = exec_stacks_});
    if (!created) return false;
    stacks = *std::move(created);
  } catch (const std::bad_alloc&) {
    return false;
  }
  auto* chunk = new (std::nothrow) Chunk{std::move(stacks), nullptr};
  if (chunk == nullptr) return false;
  chunk->helpers.reset(new (std::nothrow) HelperFiber[static_cast<std::size_t>(count)]);
  if (chunk->helpers == nullptr) {
    delete chunk;
    return false;
  }
  for (int i = count - 1; i >= 0; --i) {
    HelperFiber& helper = chunk->helpers[static_cast<std::size_t>(i)];
    helper.kind = TaskKind::kHelper;
    helper.worker = &worker_;
    helper.pool = this;
    helper.stack = chunk->stacks->stack(i);
    helper.entry = serve;
    helper.argument = &helper;
    ++busy_;
    give_back(helper);
  }
  chunks_[index].store(chunk, std::memory_order_release);  // pairs with guard_page_owner()
  return true;
}

const HelperFiber* HelperPool::guard_page_owner(const void* address) const noexcept {
  for (const auto& entry : chunks_) {
    const Chunk* chunk = entry.load(std::memory_order_acquire);
    if (chunk == nullptr) break;
    const int index = chunk->stacks->guard_owner(address);
    if (index >= 0) return &chunk->helpers[static_cast<std::size_t>(index)];
  }
  return nullptr;
}

int HelperPool::made() const noexcept {
  int made = 0;
  for (std::size_t i = 0; i < kMostChunks && chunks_[i].load(std::memory_order_relaxed) != nullptr; ++i)
    made += kFirst << i;
  return made;
}

HelperPool::~HelperPool() {
  for (std::size_t i = 0; i < kMostChunks; ++i) {
    Chunk* chunk = chunks_[i].load(std::memory_order_relaxed);
    if (chunk == nullptr) break;
    for (int s = 0; s < kFirst << i; ++s) ult::release(chunk->helpers[static_cast<std::size_t>(s)]);
    delete chunk;
  }
}

}  // namespace tmpi::sched
