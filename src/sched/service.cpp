#include "sched/service.hpp"

#include <new>

#include "sched/worker.hpp"

namespace tmpi::sched {
namespace {

// What a service's fiber runs for ever: the work it is given, then the wait for more.
void serve(void* argument) {
  Service& self = *static_cast<Service*>(argument);
  for (;;) {
    self.work(self.work_argument);
    self.worker->retire(self);
  }
}

}  // namespace

bool run_service(void (*work)(void*), void* argument) noexcept {
  Worker& worker = *this_worker();
  Service* service = worker.services().take();
  if (service != nullptr && service == worker.running()) [[unlikely]] {
    // A thread of the rank calls, and the worker's own idles on the stack of this service, which it ran last.
    Service* other = worker.services().take();
    worker.services().give_back(*service);
    service = other;
  }
  if (service == nullptr) return false;
  Task& self = *current();
  service->owner = self.owner;
  service->work = work;
  service->work_argument = argument;
  worker.lend(self, *service);
  return true;
}

bool ServicePool::grow() noexcept {
  std::size_t index = 0;
  while (index < kMostChunks && chunks_[index].load(std::memory_order_relaxed) != nullptr) ++index;
  if (index == kMostChunks) return false;
  const int count = kFirst << index;
  auto stacks = ult::StackArena::create({count, stack_size_, exec_stacks_});
  if (!stacks) return false;
  auto* chunk = new (std::nothrow) Chunk{*std::move(stacks), nullptr};
  if (chunk == nullptr) return false;
  chunk->services.reset(new (std::nothrow) Service[static_cast<std::size_t>(count)]);
  if (chunk->services == nullptr) {
    delete chunk;
    return false;
  }
  for (int i = count - 1; i >= 0; --i) {
    Service& service = chunk->services[static_cast<std::size_t>(i)];
    service.service = true;
    service.worker = &worker_;
    service.stack = chunk->stacks->stack(i);
    service.entry = serve;
    service.argument = &service;
    give_back(service);
  }
  chunks_[index].store(chunk, std::memory_order_release);  // pairs with guard_page_owner()
  return true;
}

const Service* ServicePool::guard_page_owner(const void* address) const noexcept {
  for (const auto& entry : chunks_) {
    const Chunk* chunk = entry.load(std::memory_order_acquire);
    if (chunk == nullptr) break;
    const int index = chunk->stacks->guard_owner(address);
    if (index >= 0) return &chunk->services[static_cast<std::size_t>(index)];
  }
  return nullptr;
}

int ServicePool::made() const noexcept {
  int made = 0;
  for (std::size_t i = 0; i < kMostChunks && chunks_[i].load(std::memory_order_relaxed) != nullptr; ++i)
    made += kFirst << i;
  return made;
}

ServicePool::~ServicePool() {
  for (std::size_t i = 0; i < kMostChunks; ++i) {
    Chunk* chunk = chunks_[i].load(std::memory_order_relaxed);
    if (chunk == nullptr) break;
    for (int s = 0; s < kFirst << i; ++s) ult::release(chunk->services[static_cast<std::size_t>(s)]);
    delete chunk;
  }
}

}  // namespace tmpi::sched
