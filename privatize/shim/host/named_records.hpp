// Records of ranks that signals name: what a signal carries (sigval) is made into a name of a record, which tells whose
// it is and what the rank is to see. They are never freed, and used again: signals that are under way name them.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace tmpi::shim {

/// What a record begins with.
struct NamedRecord {
  std::atomic<int> rank{-1};  // -1: idle. release by who makes it, acquire in handlers
  std::atomic<std::uint16_t> generation{
      0};  // of its use, so that a late signal of an earlier one is not mistaken
};

/// `Record` is derived from NamedRecord. `kMark`: 16 bits that no address of a program begins with, those of this kind.
template <class Record, std::uintptr_t kMark>
class NamedRecords {
 public:
  /// Null: there is none of this number.
  Record* at(int index) const noexcept {
    if (index < 0 || index >= kBlocks * kPerBlock) return nullptr;
    Record* const block = blocks_[index / kPerBlock].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : &block[index % kPerBlock];
  }
  sigval name(int index) const noexcept {
    sigval value{};
    const std::uintptr_t generation = at(index)->generation.load(std::memory_order_relaxed);
    value.sival_ptr =
        reinterpret_cast<void*>(kMark << 48 | generation << 32 | static_cast<std::uint32_t>(index));
    return value;
  }
  static bool is_name(sigval value) noexcept {
    return reinterpret_cast<std::uintptr_t>(value.sival_ptr) >> 48 == kMark;
  }
  /// Null: it is no name, or that of an earlier use. Async-signal-safe.
  Record* named(sigval value) const noexcept {
    const auto name = reinterpret_cast<std::uintptr_t>(value.sival_ptr);
    if (!is_name(value)) return nullptr;
    Record* const record = at(static_cast<int>(name & 0xffff'ffff));
    if (record == nullptr || record->generation.load(std::memory_order_acquire) != (name >> 32 & 0xffff))
      return nullptr;
    return record;
  }

  // The caller excludes others from these.

  int count() const noexcept { return count_; }
  /// Index of an idle one, -1: no memory.
  int take() noexcept {
    for (int i = idle_ == 0 ? count_ : 0; i < count_; ++i) {
      if (at(i)->rank.load(std::memory_order_relaxed) >= 0) continue;
      --idle_;
      return i;
    }
    if (count_ == kBlocks * kPerBlock) return -1;
    if (count_ % kPerBlock == 0 && at(count_) == nullptr) {
      auto* block = new (std::nothrow) Record[kPerBlock];
      if (block == nullptr) return -1;
      blocks_[count_ / kPerBlock].store(block, std::memory_order_release);
    }
    return count_++;
  }
  void give_back(Record& record) noexcept {
    record.generation.fetch_add(1, std::memory_order_release);
    record.rank.store(-1, std::memory_order_release);
    ++idle_;
  }

 private:
  static constexpr int kPerBlock = 64;
  static constexpr int kBlocks = 4096;
  std::atomic<Record*> blocks_[kBlocks] = {};
  int count_ = 0;  // in blocks
  int idle_ = 0;   // of these
};

}  // namespace tmpi::shim
