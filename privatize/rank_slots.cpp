#include "privatize/rank_slots.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "privatize/function_table.hpp"
#include "privatize/loader.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kImagePart = 4;     // of the slot
constexpr std::size_t kHeaderPart = 256;  // of the heap

RankSlots* the_slots = nullptr;

void* pointer(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);
}
std::uintptr_t address(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}
std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + kPageSize - 1) & ~std::size_t{kPageSize - 1};
}
std::uintptr_t aligned(std::uintptr_t at, std::size_t alignment) noexcept {
  return (at + alignment - 1) & ~(alignment - 1);
}
std::string in_mib(std::size_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

struct Range {
  std::uintptr_t begin, end;
};

}  // namespace

/// At the beginning of the heap: which of it is in use, in order, neighbours joined.
struct RankSlots::Heap {
  SpinLock lock;
  std::size_t count, most;
  std::uintptr_t begin, end;  // of what is given out
  std::uintptr_t next;        // where the last search ended

  Range* ranges() noexcept { return reinterpret_cast<Range*>(this + 1); }
  /// The first range that ends behind `at`.
  Range* behind(std::uintptr_t at) noexcept {
    return std::partition_point(ranges(), ranges() + count,
                                [at](const Range& range) { return range.end <= at; });
  }

  /// The first gap of so many bytes at or behind `from`; 0: none.
  std::uintptr_t gap_behind(std::uintptr_t from, std::size_t bytes, std::size_t alignment) noexcept {
    std::uintptr_t at = aligned(from, alignment);
    for (const Range* range = behind(from); range != ranges() + count; ++range) {
      if (at <= range->begin && range->begin - at >= bytes) return at;
      at = std::max(at, aligned(range->end, alignment));
    }
    return at < end && end - at >= bytes ? at : 0;
  }

  /// Takes [at, at + bytes), which is free. False: there are too many ranges.
  bool take(std::uintptr_t at, std::size_t bytes) noexcept {
    Range* const next_one = behind(at);
    Range* const last = ranges() + count;
    const bool joins_next = next_one != last && next_one->begin == at + bytes;
    Range* const before = next_one == ranges() ? nullptr : next_one - 1;
    if (before != nullptr && before->end == at) {
      before->end = joins_next ? next_one->end : at + bytes;
      if (joins_next) erase(next_one, next_one + 1);
      return true;
    }
    if (joins_next) {
      next_one->begin = at;
      return true;
    }
    return insert(next_one, {at, at + bytes});
  }

  void give_back(std::uintptr_t from, std::uintptr_t to) noexcept {
    Range* range = behind(from);
    if (range != ranges() + count && range->begin < from) {
      if (range->end > to) {
        // Without room for one more the hole stays in use: addresses that nobody gets.
        if (insert(range + 1, {to, range->end})) range->end = from;
        return;
      }
      range->end = from;
      ++range;
    }
    Range* last = range;
    while (last != ranges() + count && last->end <= to) ++last;
    if (last != ranges() + count && last->begin < to) last->begin = to;
    erase(range, last);
  }

  bool insert(Range* where, Range range) noexcept {
    if (count == most) return false;
    std::memmove(where + 1, where, static_cast<std::size_t>(ranges() + count - where) * sizeof(Range));
    *where = range;
    ++count;
    return true;
  }
  void erase(Range* from, Range* to) noexcept {
    std::memmove(from, to, static_cast<std::size_t>(ranges() + count - to) * sizeof(Range));
    count -= static_cast<std::size_t>(to - from);
  }

  /// 0: no room.
  std::uintptr_t allocate(std::size_t bytes) noexcept {
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : kPageSize;
    const std::lock_guard guard(lock);
    std::uintptr_t at = gap_behind(next, bytes, alignment);
    if (at == 0) at = gap_behind(begin, bytes, alignment);
    if (at == 0 || !take(at, bytes)) return 0;
    next = at + bytes;
    return at;
  }
};

RankSlots::RankSlots(int ranks, std::size_t bytes, std::size_t stack) noexcept
    : ranks_(ranks),
      bytes_(bytes),
      image_bytes_(bytes / kImagePart),
      stack_(stack),
      outside_(new std::atomic<bool>[static_cast<std::size_t>(ranks)] {}) {}

Result<void> RankSlots::create(int ranks, std::size_t bytes, std::size_t stack) {
  const std::size_t room = std::bit_floor((kEnd - kBegin) / static_cast<std::size_t>(ranks));
  if (bytes == 0) bytes = std::min(kDefaultBytes, room);
  if (bytes > room || bytes < kLeastBytes) {
    return Failure{"--migratable: " + std::to_string(ranks) + " ranks cannot have " + in_mib(bytes) +
                   " of addresses each, but at least " + in_mib(kLeastBytes) + " and at most " +
                   in_mib(room) + " (--slot-size)"};
  }
  stack = whole_pages(stack);
  if (stack > bytes / kImagePart) {
    return Failure{"--migratable: a stack of " + in_mib(stack) + " does not fit into a rank's " +
                   in_mib(bytes) + " of addresses; pass a smaller --stack-size or a larger --slot-size"};
  }
  void* const begin = mmap(pointer(kBegin), bytes * static_cast<std::size_t>(ranks), PROT_NONE,
                           kReserved | MAP_FIXED_NOREPLACE, -1, 0);
  if (begin != pointer(kBegin)) {
    return Failure{"--migratable: cannot reserve the addresses of " + std::to_string(ranks) + " ranks with " +
                   in_mib(bytes) + " each: " + (begin == MAP_FAILED ? std::strerror(errno) : "in use") +
                   "; see ulimit -v, or pass a smaller --slot-size"};
  }
  the_slots = new RankSlots(ranks, bytes, stack);  // as long as the process
  return {};
}

RankSlots* RankSlots::get() noexcept {
  return the_slots;
}

Result<std::size_t> RankSlots::take_image_room(std::size_t bytes, std::size_t alignment) {
  const std::size_t at = aligned(images_taken_, alignment);
  if (at > image_bytes_ || bytes > image_bytes_ - at) {
    return Failure{"its program and libraries need more than the " + in_mib(image_bytes_) +
                   " that a rank's addresses have for them; pass a larger --slot-size"};
  }
  images_taken_ = at + bytes;
  return at;
}

RankSlots::Heap& RankSlots::heap(int rank) noexcept {
  return *static_cast<Heap*>(pointer(heap_begin(rank)));
}

bool RankSlots::prepare(int rank) noexcept {
  const std::size_t header = whole_pages((heap_end(rank) - heap_begin(rank)) / kHeaderPart);
  void* const at = pointer(heap_begin(rank));
  if (mmap(at, header, PROT_READ | PROT_WRITE, kReserved | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  Heap& heap = *new (at) Heap{};
  heap.most = (header - sizeof(Heap)) / sizeof(Range);
  heap.begin = heap.next = heap_begin(rank) + header;
  heap.end = heap_end(rank);
  return true;
}

bool RankSlots::in_heap(int rank, const void* at, std::size_t bytes) const noexcept {
  const std::uintptr_t begin = address(at);
  return begin >= heap_begin(rank) && begin < heap_end(rank) && bytes <= heap_end(rank) - begin;
}

bool RankSlots::reserve_again(std::uintptr_t begin, std::size_t bytes) noexcept {
  return mmap(pointer(begin), bytes, PROT_NONE, kReserved | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void RankSlots::forget(int rank, std::uintptr_t begin, std::size_t bytes) noexcept {
  Heap& heap = this->heap(rank);
  const std::lock_guard guard(heap.lock);
  heap.give_back(begin, begin + whole_pages(bytes));
}

void* RankSlots::map(void* hint, std::size_t bytes, int protection, int flags, int fd,
                     off_t offset) noexcept {
  const int rank = running_rank();
  if (rank < 0 || bytes == 0 || (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
    void* const fixed = mmap(hint, bytes, protection, flags, fd, offset);
    if (rank >= 0 && fixed != MAP_FAILED && owner(address(fixed)) != rank) note_outside();
    return fixed;
  }
  const std::size_t length = whole_pages(bytes);
  const std::uintptr_t at = length >= bytes ? heap(rank).allocate(length) : 0;
  if (at == 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const begin = mmap(pointer(at), bytes, protection, flags | MAP_FIXED, fd, offset);
  if (begin == MAP_FAILED) forget(rank, at, length);
  return begin;
}

void RankSlots::note_outside() noexcept {
  if (const int rank = running_rank(); rank >= 0)
    outside_[static_cast<std::size_t>(rank)].store(true, std::memory_order_relaxed);
}

int RankSlots::unmap(void* begin, std::size_t bytes) noexcept {
  const int rank = running_rank();
  if (rank < 0 || bytes == 0 || address(begin) % kPageSize != 0 || !in_heap(rank, begin, bytes))
    return munmap(begin, bytes);
  if (!reserve_again(address(begin), whole_pages(bytes))) return -1;
  forget(rank, address(begin), bytes);
  return 0;
}

void* RankSlots::remap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                       void* wanted) noexcept {
  const int rank = running_rank();
  const std::size_t before = whole_pages(old_bytes), after = whole_pages(bytes);
  if (rank < 0 || (flags & MREMAP_FIXED) != 0 || before == 0 || after == 0 || !in_heap(rank, old, before))
    return mremap(old, old_bytes, bytes, flags, wanted);
  if (after <= before) {
    if (after < before && unmap(static_cast<std::byte*>(old) + after, before - after) != 0) return MAP_FAILED;
    return old;
  }
  // What lies behind is mapped, if only as a reservation: the system cannot extend it there.
  if ((flags & MREMAP_MAYMOVE) == 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  const std::uintptr_t at = heap(rank).allocate(after);
  if (at == 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const now = mremap(old, before, after, MREMAP_MAYMOVE | MREMAP_FIXED, pointer(at));
  if (now == MAP_FAILED) {
    forget(rank, at, after);
    return MAP_FAILED;
  }
  if (reserve_again(address(old), before)) forget(rank, address(old), before);
  return now;
}

namespace {

extern "C" {

void* tmpi_slot_mmap(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  return the_slots->map(hint, bytes, protection, flags, fd, offset);
}
int tmpi_slot_munmap(void* begin, std::size_t bytes) {
  return the_slots->unmap(begin, bytes);
}
void* tmpi_slot_mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  return the_slots->remap(old, old_bytes, bytes, flags, wanted);
}
void* tmpi_slot_shmat(int segment, const void* wanted, int flags) {
  the_slots->note_outside();
  return shmat(segment, wanted, flags);
}
sem_t* tmpi_slot_sem_open(const char* name, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const bool creates = (flags & O_CREAT) != 0;
  const mode_t mode = creates ? va_arg(rest, mode_t) : 0;
  const unsigned value = creates ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  the_slots->note_outside();
  return sem_open(name, flags, mode, value);
}
}

const FunctionEntry kTable[] = {
    {"shmat", address_of(&tmpi_slot_shmat)},   {"sem_open", address_of(&tmpi_slot_sem_open)},
    {"mmap", address_of(&tmpi_slot_mmap)},     {"mmap64", address_of(&tmpi_slot_mmap)},
    {"munmap", address_of(&tmpi_slot_munmap)}, {"mremap", address_of(&tmpi_slot_mremap)},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int tmpi_ranks_are_saved() {
  return the_slots != nullptr ? 1 : 0;
}

const void* slot_function(const char* name) noexcept {
  return the_slots == nullptr ? nullptr : find_function(kTable, name);
}

}  // namespace tmpi::privatize
