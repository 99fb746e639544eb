// RankSlots: in a job whose ranks can be saved and revived (--migratable) each rank of the world owns a range of
// addresses, its slot, that is the same and free in every node process of the job: whoever revives the rank finds all
// that is its own where it was, so no pointer has to be changed.
//
//     | images of the program and its libraries | handles | heap: what the rank maps | stack |
//
// Handles: the objects of MPI that the program knows by their address; whoever revives the rank makes them anew there. The
// whole range is reserved from the start; what is in use lies over the reservation. What is mapped in the heap is
// written down in the slot itself, and so is saved with it. docs/design/checkpoint.md.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"

namespace tmpi::privatize {

class RankSlots {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{4} << 30;
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 20;

  /// Reserves the slots of a job of so many ranks. `bytes`: of each, a power of two; 0: kDefaultBytes, or as many as there
  /// are addresses for. `stack`: bytes that a rank's stack needs, with its guard. Once per process, before anything of a
  /// rank is mapped. Failure sentences: too many ranks for that, too little room for the stack, the range is not free.
  static Result<void> create(int ranks, std::size_t bytes, std::size_t stack);
  /// Null: ranks of this job have no slots.
  static RankSlots* get() noexcept;

  int ranks() const noexcept { return ranks_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uintptr_t begin(int rank) const noexcept { return kBegin + bytes_ * static_cast<std::size_t>(rank); }
  /// Where the rank's stack lies, and how much room there is.
  std::uintptr_t stack(int rank) const noexcept { return begin(rank) + bytes_ - stack_; }
  std::size_t stack_bytes() const noexcept { return stack_; }
  /// Rank whose slot the address is in, -1: none. Async-signal-safe.
  int owner(std::uintptr_t address) const noexcept {
    const std::uintptr_t rank = (address - kBegin) / bytes_;
    return rank < static_cast<std::uintptr_t>(ranks_) ? static_cast<int>(rank) : -1;
  }
  /// Room for objects of the runtime's that the program has addresses of.
  std::uintptr_t handles(int rank) const noexcept { return begin(rank) + image_bytes_; }
  std::size_t handle_bytes() const noexcept { return bytes_ / kHandlePart; }
  /// Where what the rank maps itself lies: up to its stack.
  std::uintptr_t heap_begin(int rank) const noexcept { return handles(rank) + handle_bytes(); }
  /// Among the handles of its slot.
  bool is_handle(std::uintptr_t address) const noexcept {
    return (address - kBegin) % bytes_ - image_bytes_ < handle_bytes();
  }

  /// Takes room for one image of each rank: its distance from the beginning of every slot. The same sequence of calls gives
  /// the same places. Not in parallel.
  Result<std::size_t> take_image_room(std::size_t bytes, std::size_t alignment);

  /// Before the rank's image is started. False, with errno: the system gives no memory.
  bool prepare(int rank) noexcept;

  // What images bind to instead of mmap and the like: memory of the calling rank comes from its slot. Any thread of the
  // rank. As the system's functions, with ENOMEM where the slot is full; what names its place, and what no rank asks for,
  // is the system's affair.
  void* map(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept;
  int unmap(void* begin, std::size_t bytes) noexcept;
  /// The calling rank has got memory outside of its slot: it cannot be saved any more.
  void note_outside() noexcept;
  bool has_outside(int rank) const noexcept { return outside_[static_cast<std::size_t>(rank)]; }
  void* remap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, void* wanted) noexcept;

 private:
  struct Heap;
  static constexpr std::size_t kHandlePart = 64;  // of the slot
  // Below the addresses that the system gives out itself, and what sanitizers reserve.
  static constexpr std::uintptr_t kBegin = 0x2000'0000'0000, kEnd = 0x5000'0000'0000;

  RankSlots(int ranks, std::size_t bytes, std::size_t stack) noexcept;
  std::uintptr_t heap_end(int rank) const noexcept { return stack(rank); }
  bool in_heap(int rank, const void* at, std::size_t bytes) const noexcept;
  Heap& heap(int rank) noexcept;
  void forget(int rank, std::uintptr_t begin, std::size_t bytes) noexcept;
  static bool reserve_again(std::uintptr_t begin, std::size_t bytes) noexcept;

  const int ranks_;
  const std::size_t bytes_, image_bytes_, stack_;
  std::size_t images_taken_ = 0;
  std::unique_ptr<std::atomic<bool>[]> outside_;  // by rank; relaxed
};

/// The loader's version of function `name` for ranks that have slots; null: it has none, or they have not.
const void* slot_function(const char* name) noexcept;

}  // namespace tmpi::privatize
