#include "mpi/base/interop.hpp"

#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {

int HandleTable::to_int(void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < kConstants) return static_cast<int>(value);
  std::scoped_lock lock(mutex_);
  const auto [found, inserted] = numbers_.try_emplace(handle, kConstants + static_cast<int>(handles_.size()));
  if (inserted) handles_.push_back(handle);
  return found->second;
}

void* HandleTable::from_int(int number) const {
  if (number < 0) return nullptr;
  if (number < kConstants) return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number - kConstants);
  return index < handles_.size() ? handles_[index] : nullptr;
}

Interop& interop() noexcept {
  static Interop outside;
  Rank* rank = calling_rank();
  return rank != nullptr ? rank->interop : outside;
}

}  // namespace tmpi::mpi
