// RankTable: a few words per world rank for ranks that need them, found in constant time without a lock, readable
// in a signal handler. Grows by chunks that are never freed, so that it takes what the ranks that live here take.
#pragma once

#include <atomic>
#include <new>

namespace tmpi::privatize {

template <class T, int kPerChunk = 64>
class RankTable {
 public:
  /// Null if nothing was stored for the rank yet. Async-signal-safe.
  T* find(int rank) noexcept {
    if (rank < 0 || rank >= kChunks * kPerChunk) return nullptr;
    // acquire: pairs with the release in get(), the chunk's contents are visible
    T* chunk = chunks_[rank / kPerChunk].load(std::memory_order_acquire);
    return chunk != nullptr ? &chunk[rank % kPerChunk] : nullptr;
  }

  /// Null only if out of memory or for a rank that cannot exist.
  T* get(int rank) noexcept {
    if (rank < 0 || rank >= kChunks * kPerChunk) return nullptr;
    std::atomic<T*>& slot = chunks_[rank / kPerChunk];
    if (slot.load(std::memory_order_acquire) == nullptr) {
      T* fresh = new (std::nothrow) T[kPerChunk]();
      T* expected = nullptr;
      // acq_rel: publishes the fresh chunk, or sees the one that another rank published
      if (!slot.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) delete[] fresh;
    }
    return find(rank);
  }

 private:
  static constexpr int kChunks = 16384;  // a million ranks at least
  std::atomic<T*> chunks_[kChunks] = {};
};

}  // namespace tmpi::privatize
