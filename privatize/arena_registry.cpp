#include "privatize/arena_registry.hpp"

#include <mutex>

#include "base/spinlock.hpp"

namespace tmpi::privatize {
namespace {

// Constant-initialised and trivially destroyed in practice: exceptions are thrown before main and after exit
// too.
constinit ArenaRegistry the_registry;
constinit SpinLock writers;

}  // namespace

ArenaRegistry& arena_registry() noexcept {
  return the_registry;
}

bool ArenaRegistry::add(ImageSet* set, std::uint64_t begin, std::uint64_t stride, std::uint64_t extent,
                        int images) {
  const std::lock_guard lock(writers);
  const int count = count_.load(std::memory_order_relaxed);
  int slot = 0;
  while (slot < count && arenas_[slot].set.load(std::memory_order_relaxed) != nullptr) ++slot;
  if (slot == kMax) return false;
  Arena& arena = arenas_[slot];
  arena.begin = begin;
  arena.stride = stride;
  arena.extent = extent;
  arena.end = begin + stride * static_cast<std::uint64_t>(images);
  // release pairs with find()'s acquire of set: begin, end and stride are visible with it.
  arena.set.store(set, std::memory_order_release);
  if (slot == count) count_.store(count + 1, std::memory_order_release);
  return true;
}

void ArenaRegistry::remove(const ImageSet* set) {
  const std::lock_guard lock(writers);
  for (Arena& arena : arenas_) {
    if (arena.set.load(std::memory_order_relaxed) == set) arena.set.store(nullptr, std::memory_order_release);
  }
}

ImageLocation ArenaRegistry::find(std::uint64_t address) const noexcept {
  const int count = count_.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Arena& arena = arenas_[i];
    ImageSet* set = arena.set.load(std::memory_order_acquire);
    if (set == nullptr || address < arena.begin || address >= arena.end) continue;
    const std::uint64_t distance = address - arena.begin;
    const std::uint64_t index = distance / arena.stride, offset = distance - index * arena.stride;
    if (offset < arena.extent) return {set, static_cast<int>(index), offset};
  }
  return {};
}

}  // namespace tmpi::privatize
