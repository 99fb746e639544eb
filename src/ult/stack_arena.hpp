// StackArena: the stacks of all fibers of a process, in one reserved mapping whose pages are committed when
// first touched.
//
//     | guard 0 | stack 0 | guard 1 | stack 1 | ...
//
// Below every stack lie at least 64 KiB that fault, and with wide guards 4 MiB, for frames whose far end is touched
// first: code that was compiled without -fstack-clash-protection would step over 64 KiB. A wide guard is protected as a
// whole as long as the kernel's limit on mappings is far away; beyond that its upper 64 KiB are, and the rest is a gap
// that is nobody's memory.
//
// One stride = guard + stack, so an address finds its stack by division. A stack's first word lies at a
// different cache-line offset within the page than its neighbours' (else the hot ends of all stacks would
// compete for the same few cache sets).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "ult/fiber.hpp"

namespace tmpi::ult {

struct StackOptions {
  int count = 1;
  std::size_t size = 1 << 20;  ///< bytes a fiber may use; rounded up to whole pages
  /// If so much more is not to be had (ulimit -v): halved until it fits, down to this; 0: `size` or nothing.
  std::size_t least = 0;
  bool wide_guards = false;    ///< where address space is not scarce
  bool executable = false;     ///< PROT_EXEC: GCC's nested functions put code on the stack
  bool mappings_only = false;  ///< mprotect the guards even where the kernel has lighter ones (tests)
  /// Where each stack with its guard ends, reserved by the caller, if they do not lie side by side; with guards of
  /// kGuardSize. Empty: anywhere.
  std::span<const std::uintptr_t> ends = {};
};

class StackArena {
 public:
  static constexpr std::size_t kMinimumSize = 16 * 1024;
  static constexpr std::size_t kGuardSize = 64 * 1024;
  /// Not only a multiple of 2 MiB: the page-table entries of the stacks' tops shall not compete for few cache sets.
  static constexpr std::size_t kWideGuardSize = (4 << 20) + kGuardSize;

  /// Failure sentences: size below the minimum, more address space than there is, more mappings than
  /// vm.max_map_count.
  static Result<std::unique_ptr<StackArena>> create(StackOptions options);
  ~StackArena();
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;

  int count() const noexcept { return count_; }
  /// Addresses that a stack of `size` bytes takes at one of StackOptions::ends.
  static std::size_t footprint(std::size_t size) noexcept;
  /// Usable bytes per stack, after rounding, and halving if there was no room.
  std::size_t size() const noexcept { return size_; }
  /// True if guards cost no mapping of their own (MADV_GUARD_INSTALL, Linux 6.13).
  bool light_guards() const noexcept { return light_guards_; }
  /// Bytes below each stack that belong to nobody.
  std::size_t guard_size() const noexcept { return guard_; }

  /// Memory of stack `index`; at least size() bytes. Does not touch it.
  Stack stack(int index) const noexcept;

  /// Index of the stack whose guard holds `address`, -1 if none. Async-signal-safe.
  int guard_owner(const void* address) const noexcept;

  /// Index of the stack that `address` lies on, -1 if none. Async-signal-safe.
  int owner(const void* address) const noexcept;

  /// Bytes from the top of stack `index` to the lowest page ever touched: by residency, thus in whole pages,
  /// and an underestimate if pages were swapped out. 0 if never touched or unknown.
  std::size_t high_water(int index) const noexcept;

 private:
  StackArena() = default;
  Result<void> reserve(const StackOptions& options);
  Result<void> install_guards(bool mappings_only);
  bool protect(bool light, std::size_t bytes) noexcept;
  Result<void> map_at(std::span<const std::uintptr_t> ends, int protection);
  /// Where the guard of the stack begins.
  std::byte* begin(int index) const noexcept {
    return places_.empty() ? base_ + static_cast<std::size_t>(index) * stride_
                           : places_[static_cast<std::size_t>(index)];
  }
  std::byte* region(int index) const noexcept { return begin(index) + guard_; }
  /// The stack whose guard or memory holds `address`; -1: none. `offset`: from where its guard begins.
  int find(const void* address, std::size_t& offset) const noexcept;

  std::byte* base_ = nullptr;
  std::vector<std::byte*> places_;  // by index, empty: one behind the other from base_
  int count_ = 0;
  std::size_t size_ = 0;
  std::size_t span_ = 0;  ///< size_ plus the page that staggering takes from
  std::size_t guard_ = kGuardSize;
  std::size_t stride_ = 0;
  bool light_guards_ = false;
};

}  // namespace tmpi::ult
