#include "ult/stack_arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "base/platform.hpp"

namespace tmpi::ult {
namespace {

#if !defined(MADV_GUARD_INSTALL)
constexpr int MADV_GUARD_INSTALL =
    102;  // Linux 6.13; older headers do not name it, older kernels answer EINVAL
#endif

constexpr long kMappingShare = 128;  // of vm.max_map_count, at most this part for wide guards

std::size_t round_up(std::size_t bytes) noexcept {
  return (bytes + kPageSize - 1) & ~(kPageSize - 1);
}

/// Offset of the top of stack `index` within its page. 5 is odd, so 64 neighbours get 64 different cache
/// lines, and neighbours in the ready queue (which mostly are neighbours here) lie 5 lines apart, about what
/// a switch touches.
std::size_t stagger(int index) noexcept {
  return static_cast<std::size_t>(index) * 5 * kCacheLine % kPageSize;
}

std::string in_units(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 40)
    return fmt::format("{:.1f} TiB", static_cast<double>(bytes) / double(1ull << 40));
  if (bytes >= std::size_t{1} << 30)
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / double(1ull << 30));
  if (bytes >= std::size_t{1} << 20)
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / double(1ull << 20));
  return fmt::format("{} KiB", bytes / 1024);
}

long max_map_count() {
  long limit = 65530;
  if (FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%ld", &limit) != 1) limit = 65530;
    std::fclose(file);
  }
  return limit;
}

/// Under a limit on address space (ulimit -v) stacks take a 64th of it at most, if they can: the ranks' images and
/// heaps come later, and helper fibers' stacks, which are as large.
StackOptions fitted_to_limit(StackOptions options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return options;
  const std::size_t share = limit.rlim_cur / 64 / static_cast<std::size_t>(std::max(options.count, 1));
  if (options.size + StackArena::kWideGuardSize > share) options.wide_guards = false;
  while (options.least > 0 && options.size > share && options.size / 2 >= options.least) options.size /= 2;
  return options;
}

}  // namespace

Result<std::unique_ptr<StackArena>> StackArena::create(StackOptions options) {
  if (options.size < kMinimumSize) {
    return Failure{
        fmt::format("a stack of {} bytes is too small: the least is {}. Pass a larger --stack-size.",
                    options.size, in_units(kMinimumSize))};
  }
  options = fitted_to_limit(options);
  while (true) {
    std::unique_ptr<StackArena> arena(new StackArena);
    if (auto reserved = arena->reserve(options); !reserved) {
      if (options.least == 0 || options.size / 2 < options.least) return reserved.failure();
      options.size /= 2;
      continue;
    }
    if (auto guarded = arena->install_guards(options.mappings_only); !guarded) return guarded.failure();
    return arena;
  }
}

Result<void> StackArena::reserve(const StackOptions& options) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  const auto count = static_cast<std::size_t>(std::max(options.count, 1));
  const auto too_much = [&] {
    return Failure{
        fmt::format("{} stacks of {} do not fit into the address space. Pass a smaller --stack-size, or "
                    "start fewer ranks per node.",
                    count, in_units(options.size))};
  };
  if (options.size > (kMost >> 1) / count) return too_much();
  size_ = round_up(options.size);
  span_ = size_ + kPageSize;
  guard_ = options.wide_guards && options.ends.empty() ? kWideGuardSize : kGuardSize;
  stride_ = guard_ + span_;
  count_ = static_cast<int>(count);
  if (stride_ > kMost / count) return too_much();
  const int protection = PROT_READ | PROT_WRITE | (options.executable ? PROT_EXEC : 0);
  if (!options.ends.empty()) return map_at(options.ends, protection);
  void* memory = mmap(nullptr, count * stride_, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    return Failure{
        fmt::format("cannot reserve {} stacks of {} ({} of address space): {}. Pass a smaller --stack-size, "
                    "start fewer ranks per "
                    "node, or raise the limits (ulimit -v, vm.overcommit_memory).",
                    count, in_units(size_), in_units(count * stride_), std::strerror(errno))};
  }
  base_ = static_cast<std::byte*>(memory);
  // A huge page would commit 2 MiB at the first touch of every stack.
  (void)madvise(base_, count * stride_, MADV_NOHUGEPAGE);
  return {};
}

Result<void> StackArena::map_at(std::span<const std::uintptr_t> ends, int protection) {
  for (const std::uintptr_t end : ends) {
    std::byte* const begin = reinterpret_cast<std::byte*>(end - stride_);
    if (mmap(begin, stride_, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED,
             -1, 0) == MAP_FAILED) {
      return Failure{
          fmt::format("cannot map a stack of {}: {}. Pass a smaller --stack-size, start fewer ranks per "
                      "node, or raise the limits (ulimit -v, vm.overcommit_memory).",
                      in_units(size_), std::strerror(errno))};
    }
    (void)madvise(begin, stride_, MADV_NOHUGEPAGE);
    places_.push_back(begin);
  }
  return {};
}

std::size_t StackArena::footprint(std::size_t size) noexcept {
  return kGuardSize + round_up(size) + kPageSize;
}

// A guard by mprotect splits the mapping: two per stack.
Result<void> StackArena::install_guards(bool mappings_only) {
  const long limit = max_map_count();
  const long mappings = 2L * count_;
  // The rest of the limit is for the ranks' images (privatize/mapping_limit.cpp counts on it).
  const bool whole = guard_ > kGuardSize && mappings <= limit / kMappingShare;
  light_guards_ = !mappings_only && !whole && protect(true, kGuardSize);
  if (light_guards_) return {};
  if (!whole && mappings + 1000 > limit) {
    return Failure{fmt::format(
        "{} stacks need {} memory mappings on this kernel (older than Linux 6.13), vm.max_map_count allows "
        "{}. Start "
        "at most {} ranks per node, or raise it: sysctl -w vm.max_map_count={}",
        count_, mappings + 1000, limit, std::max(0L, (limit - 1000) / 2), mappings + 20000)};
  }
  if (!protect(false, guard_)) {
    return Failure{fmt::format("cannot protect the guards of {} stacks: {}. Start fewer ranks per node.",
                               count_, std::strerror(errno))};
  }
  return {};
}

/// The uppermost `bytes` of each guard.
bool StackArena::protect(bool light, std::size_t bytes) noexcept {
  for (int i = 0; i < count_; ++i) {
    std::byte* guard = region(i) - bytes;
    const int rc = light ? madvise(guard, bytes, MADV_GUARD_INSTALL) : mprotect(guard, bytes, PROT_NONE);
    if (rc != 0) return false;
  }
  return true;
}

StackArena::~StackArena() {
  if (base_ != nullptr) munmap(base_, static_cast<std::size_t>(count_) * stride_);
  // They stay reserved.
  for (std::byte* const place : places_)
    (void)mmap(place, stride_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

Stack StackArena::stack(int index) const noexcept {
  return {region(index), span_ - stagger(index)};
}

int StackArena::find(const void* address, std::size_t& offset) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (places_.empty()) {
    const std::uintptr_t distance = at - reinterpret_cast<std::uintptr_t>(base_);
    if (distance >= static_cast<std::size_t>(count_) * stride_) return -1;
    offset = distance % stride_;
    return static_cast<int>(distance / stride_);
  }
  for (int i = 0; i < count_; ++i) {  // after a fault only
    offset = at - reinterpret_cast<std::uintptr_t>(begin(i));
    if (offset < stride_) return i;
  }
  return -1;
}

int StackArena::guard_owner(const void* address) const noexcept {
  std::size_t offset = 0;
  const int index = find(address, offset);
  return index >= 0 && offset < guard_ ? index : -1;
}

int StackArena::owner(const void* address) const noexcept {
  std::size_t offset = 0;
  const int index = find(address, offset);
  return index >= 0 && offset >= guard_ ? index : -1;
}

std::size_t StackArena::high_water(int index) const noexcept {
  std::byte* const low = region(index);
  std::byte* const top = low + span_;
  unsigned char resident[1024];  // 4 MiB a call
  for (std::byte* at = low; at < top;) {
    const std::size_t bytes =
        std::min<std::size_t>(static_cast<std::size_t>(top - at), sizeof resident * kPageSize);
    if (mincore(at, bytes, resident) != 0) return 0;
    for (std::size_t page = 0; page < bytes / kPageSize; ++page) {
      if (resident[page] & 1) return static_cast<std::size_t>(top - (at + page * kPageSize)) - stagger(index);
    }
    at += bytes;
  }
  return 0;
}

}  // namespace tmpi::ult
