#include "mpi/base/handle_memory.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

namespace tmpi::mpi {
namespace {

HandleMemory::Owners owners;

}  // namespace

void HandleMemory::set_owners(Owners set) noexcept {
  owners = set;
}

HandleMemory* HandleMemory::of_calling_rank() noexcept {
  return owners.of_caller == nullptr ? nullptr : owners.of_caller();
}

void* HandleMemory::allocate(HandleKind kind, std::size_t bytes, std::size_t alignment) {
  HandleMemory* const own = of_calling_rank();
  return own != nullptr ? own->take(kind, bytes) : ::operator new(bytes, std::align_val_t(alignment));
}

void HandleMemory::release(void* at, std::size_t alignment) noexcept {
  HandleMemory* const own = owners.at == nullptr ? nullptr : owners.at(at);
  own != nullptr ? own->give_back(at) : ::operator delete(at, std::align_val_t(alignment));
}

void* HandleMemory::take(HandleKind kind, std::size_t bytes) {
  bytes = (bytes + kCell - 1) / kCell * kCell;
  const std::lock_guard guard(lock_);
  std::uintptr_t at = std::exchange(expected_, 0);
  if (at != 0) {
    end_ = std::max(end_, at + bytes);
  } else if (const auto found = free_.find(bytes); found != free_.end()) {
    at = found->second;
    free_.erase(found);
  } else {
    if (limit_ - end_ < bytes) throw std::bad_alloc();
    at = std::exchange(end_, end_ + bytes);
  }
  taken_.emplace(at, Entry{kind, bytes, serial_++});
  return reinterpret_cast<void*>(at);
}

void HandleMemory::give_back(void* at) noexcept {
  const std::lock_guard guard(lock_);
  const auto entry = taken_.find(reinterpret_cast<std::uintptr_t>(at));
  try {
    free_.emplace(entry->second.bytes, entry->first);
  } catch (const std::bad_alloc&) {  // then the place stays empty
  }
  taken_.erase(entry);
}

void HandleMemory::for_each(const std::function<void(HandleKind, void*)>& use) const {
  std::vector<std::tuple<HandleKind, std::uint64_t, std::uintptr_t>> all;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [at, entry] : taken_) all.emplace_back(entry.kind, entry.serial, at);
  }
  std::ranges::sort(all);
  for (const auto& [kind, serial, at] : all) use(kind, reinterpret_cast<void*>(at));
}

}  // namespace tmpi::mpi
