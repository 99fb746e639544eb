#include "mpi/base/interop.hpp"

#include "mpi/base/handles.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kFirst = kPredefinedHandles;  // the integer of the first handle that is no constant

}  // namespace

int HandleTable::to_int(void* handle) {
  if (is_predefined(handle)) return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
  std::scoped_lock lock(mutex_);
  if (entries_ == nullptr) entries_ = std::make_unique<Entries>();
  std::vector<void*>& handles = entries_->handles;
  const auto [found, inserted] =
      entries_->numbers.try_emplace(handle, kFirst + static_cast<int>(handles.size()));
  if (inserted) handles.push_back(handle);
  return found->second;
}

std::vector<void*> HandleTable::in_order() const {
  const std::scoped_lock lock(mutex_);
  return entries_ == nullptr ? std::vector<void*>() : entries_->handles;
}

void* HandleTable::from_int(int number) const {
  if (number < 0) return nullptr;
  if (number < kFirst) return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  std::scoped_lock lock(mutex_);
  if (entries_ == nullptr) return nullptr;
  const auto index = static_cast<std::size_t>(number - kFirst);
  return index < entries_->handles.size() ? entries_->handles[index] : nullptr;
}

}  // namespace tmpi::mpi
