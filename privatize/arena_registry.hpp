// Which image an address belongs to: a table of the reserved address ranges. Look-up is lock-free,
// async-signal-safe and takes constant time per set (a job has one set per program and one per library opened
// with dlopen).
#pragma once

#include <atomic>
#include <cstdint>

namespace tmpi::privatize {

class ImageSet;
struct Object;

struct ImageLocation {
  ImageSet* set = nullptr;  ///< null: in no image
  int index = -1;
  std::uint64_t offset = 0;  ///< in the image
  explicit operator bool() const noexcept { return set != nullptr; }
};

class ArenaRegistry {
 public:
  static constexpr int kMax = 4096;

  /// Images of `extent` bytes each, `stride` apart: between them may lie those of other sets.
  bool add(ImageSet* set, std::uint64_t begin, std::uint64_t stride, std::uint64_t extent, int images);
  void remove(const ImageSet* set);
  ImageLocation find(std::uint64_t address) const noexcept;
  /// Calls fn(set) for each set.
  template <class Function>
  void for_each(Function fn) const {
    const int count = count_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      if (ImageSet* set = arenas_[i].set.load(std::memory_order_acquire)) fn(*set);
    }
  }

 private:
  struct Arena {
    std::uint64_t begin = 0, end = 0, stride = 1, extent = 0;
    std::atomic<ImageSet*> set{nullptr};
  };
  Arena arenas_[kMax];
  // release in add() pairs with acquire in find(): an arena is complete before it is counted.
  std::atomic<int> count_{0};
};

/// The process's registry (never destroyed: the unwinder asks it until the end).
ArenaRegistry& arena_registry() noexcept;

inline ImageLocation locate(const void* address) noexcept {
  return arena_registry().find(reinterpret_cast<std::uint64_t>(address));
}

}  // namespace tmpi::privatize
