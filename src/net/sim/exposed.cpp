#include "net/sim/exposed.hpp"

namespace tmpi::net::sim {

bool ExposedTable::allows(const RemoteKey& key, std::uint64_t remote, std::uint64_t bytes) const noexcept {
  if (key.word[0] >= kSlots) return false;
  const Slot& slot = slots[key.word[0]];
  // acquire pairs with expose() and with the second look: base and bytes belong to this generation.
  if (slot.generation.load(std::memory_order_acquire) != key.word[1] || key.word[1] % 2 == 0) return false;
  const std::uint64_t base = slot.base.load(std::memory_order_acquire);
  const std::uint64_t size = slot.bytes.load(std::memory_order_acquire);
  if (slot.generation.load(std::memory_order_relaxed) != key.word[1]) return false;
  return remote >= base && remote - base <= size && bytes <= size - (remote - base);
}

std::optional<RemoteKey> ExposedSlots::expose(const void* buffer, std::size_t bytes) {
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (used_ < ExposedTable::kSlots) {
    index = used_++;
    free_.reserve(used_);  // conceal() does not allocate
  } else {
    return std::nullopt;
  }
  ExposedTable::Slot& slot = table_->slots[index];
  // release each, so that who reads one of the new values finds the older generation gone.
  slot.base.store(reinterpret_cast<std::uintptr_t>(buffer), std::memory_order_release);
  slot.bytes.store(bytes, std::memory_order_release);
  const std::uint64_t generation = slot.generation.load(std::memory_order_relaxed) + 1;
  slot.generation.store(generation, std::memory_order_release);
  return RemoteKey{{index, generation}};
}

void ExposedSlots::conceal(const RemoteKey& key) noexcept {
  ExposedTable::Slot& slot = table_->slots[key.word[0]];
  slot.generation.store(key.word[1] + 1, std::memory_order_release);
  free_.push_back(static_cast<std::uint32_t>(key.word[0]));
}

}  // namespace tmpi::net::sim
