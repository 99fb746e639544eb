// Table: what is under way, by ids that other nodes may know. An id is a slot and the slot's generation, so
// one that is stale, made up, or out of range is recognized and names nothing. Entries keep their address
// while they live. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace tmpi::mpi::remote {

/// T: default constructible, assignable from T{} in reset(); `std::uint64_t id` is the table's.
template <class T>
class Table {
 public:
  /// A fresh entry; its id is never 0.
  T& take() {
    if (free_.empty()) {
      // Room for all of them, so that give_back() needs no memory.
      const std::size_t entries = entries_.size() + 1;
      if (free_.capacity() < entries) free_.reserve(2 * entries);
      entries_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(entries - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Entry& entry = entries_[slot];
    entry.value.id = std::uint64_t{++entry.generation} << 32 | slot;
    ++size_;
    return entry.value;
  }

  /// Null if the id names nothing.
  T* find(std::uint64_t id) noexcept {
    const auto slot = static_cast<std::uint32_t>(id);
    if (slot >= entries_.size()) return nullptr;
    T& value = entries_[slot].value;
    return id != 0 && value.id == id ? &value : nullptr;
  }

  void give_back(T& value) noexcept {
    const auto slot = static_cast<std::uint32_t>(value.id);
    value.reset();
    value.id = 0;
    free_.push_back(slot);
    --size_;
  }

  std::size_t size() const noexcept { return size_; }

  template <class Visit>
  void for_each(Visit&& visit) {
    for (Entry& entry : entries_) {
      if (entry.value.id != 0) visit(entry.value);
    }
  }

 private:
  struct Entry {
    T value;
    std::uint32_t generation = 0;
  };
  std::deque<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace tmpi::mpi::remote
