#include "mpi/base/interop.hpp"

#include "mpi/base/handles.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kFirst = kPredefinedHandles;  // the integer of the first handle that is no constant

}  // namespace

int HandleTable::to_int(void* handle) {
  if (is_predefined(handle)) return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
  std::scoped_lock lock(mutex_);
  const auto [found, inserted] = numbers_.try_emplace(handle, kFirst + static_cast<int>(handles_.size()));
  if (inserted) handles_.push_back(handle);
  return found->second;
}

void* HandleTable::from_int(int number) const {
  if (number < 0) return nullptr;
  if (number < kFirst) return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number - kFirst);
  return index < handles_.size() ? handles_[index] : nullptr;
}

}  // namespace tmpi::mpi
