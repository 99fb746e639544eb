#include "privatize/large_blocks.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/platform.hpp"
#include "privatize/blocks.hpp"
#include "privatize/function_table.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_state.hpp"

namespace tmpi::privatize {
namespace {

std::uintptr_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

Blocks& blocks() noexcept {
  alignas(Blocks) static std::byte room[sizeof(Blocks)];
  static Blocks& blocks = *new (room) Blocks;  // never destroyed: ranks free until the end
  return blocks;
}

bool g_noted = false;

bool is_page(const void* pointer) noexcept {
  return address(pointer) % kPageSize == 0;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + kPageSize - 1) & ~std::size_t{kPageSize - 1};
}

void* noted(void* block, std::size_t bytes) noexcept {
  if (bytes < kLargeBlock || block == nullptr) [[likely]]
    return block;
  if (const int rank = running_rank(); rank >= 0) blocks().add(address(block), bytes, rank);
  return block;
}

void forget(void* block) noexcept {
  if (block != nullptr && malloc_usable_size(block) >= kLargeBlock) [[unlikely]]
    blocks().remove(address(block));
}

extern "C" {

void* tmpi_malloc(std::size_t bytes) {
  return noted(std::malloc(bytes), bytes);
}
void* tmpi_calloc(std::size_t count, std::size_t bytes) {
  return noted(std::calloc(count, bytes), count * bytes);  // too many: null
}
void* tmpi_realloc(void* block, std::size_t bytes) {
  const std::size_t before = block != nullptr ? malloc_usable_size(block) : 0;
  if (before >= kLargeBlock) blocks().remove(address(block));
  void* const now = std::realloc(block, bytes);
  // Without memory the old one is still there.
  if (now == nullptr && bytes != 0) return noted(block, before), nullptr;
  return noted(now, bytes);
}
void* tmpi_reallocarray(void* block, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return tmpi_realloc(block, all);
}
void* tmpi_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return noted(aligned_alloc(alignment, bytes), bytes);
}
void* tmpi_memalign(std::size_t alignment, std::size_t bytes) {
  return noted(memalign(alignment, bytes), bytes);
}
int tmpi_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int error = posix_memalign(block, alignment, bytes);
  if (error == 0) noted(*block, bytes);
  return error;
}
void* tmpi_valloc(std::size_t bytes) {
  return noted(valloc(bytes), bytes);
}
void* tmpi_pvalloc(std::size_t bytes) {
  return noted(pvalloc(bytes), bytes);
}
void tmpi_free(void* block) {
  forget(block);
  std::free(block);
}
// Of C23; libc's read nothing of the block either. Only a program that is linked with a libc which has them refers to them.
void tmpi_free_sized(void* block, std::size_t) {
  tmpi_free(block);
}
void tmpi_free_aligned_sized(void* block, std::size_t, std::size_t) {
  tmpi_free(block);
}
void* tmpi_mmap(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  void* const begin = mmap(hint, bytes, protection, flags, fd, offset);
  if (begin == MAP_FAILED) return begin;
  // One that may not be used is a reservation of addresses, perhaps a huge one.
  if ((flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0 && protection != PROT_NONE &&
      bytes >= kLargeBlock)
    return noted(begin, bytes);
  if ((flags & MAP_FIXED) != 0) blocks().cut(address(begin), whole_pages(bytes));
  return begin;
}
// Before the system may give these addresses to another thread. If it then does not free them they stay where they are.
int tmpi_munmap(void* begin, std::size_t bytes) {
  if (is_page(begin)) blocks().cut(address(begin), whole_pages(bytes));
  return munmap(begin, bytes);
}
void* tmpi_mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  const bool known = is_page(old) && blocks().cut(address(old), whole_pages(old_bytes));
  void* const now = mremap(old, old_bytes, bytes, flags, wanted);
  if (now == MAP_FAILED) return known ? noted(old, old_bytes), now : now;
  if (known) return noted(now, bytes);
  if (wanted != nullptr) blocks().cut(address(now), whole_pages(bytes));
  return now;
}
}

const FunctionEntry kTable[] = {
    {"malloc", address_of(&tmpi_malloc)},
    {"calloc", address_of(&tmpi_calloc)},
    {"realloc", address_of(&tmpi_realloc)},
    {"reallocarray", address_of(&tmpi_reallocarray)},
    {"aligned_alloc", address_of(&tmpi_aligned_alloc)},
    {"memalign", address_of(&tmpi_memalign)},
    {"posix_memalign", address_of(&tmpi_posix_memalign)},
    {"valloc", address_of(&tmpi_valloc)},
    {"pvalloc", address_of(&tmpi_pvalloc)},
    {"free", address_of(&tmpi_free)},
    {"free_sized", address_of(&tmpi_free_sized)},
    {"free_aligned_sized", address_of(&tmpi_free_aligned_sized)},
    {"mmap", address_of(&tmpi_mmap)},
    {"mmap64", address_of(&tmpi_mmap)},
    {"munmap", address_of(&tmpi_munmap)},
    {"mremap", address_of(&tmpi_mremap)},
};

}  // namespace

void note_large_blocks() noexcept {
  if (!g_noted) pthread_atfork([] { blocks().lock(); }, [] { blocks().unlock(); }, [] { blocks().unlock(); });
  g_noted = true;
}

const void* block_function(const char* name) noexcept {
  if (!g_noted) return nullptr;
  return find_function(kTable, name);
}

void for_each_memory_of(int rank, void (*use)(void* context, void* begin, std::size_t bytes) noexcept,
                        void* context) noexcept {
  // Only whole pages: the others' may lie beside.
  const auto pages = [&](std::uintptr_t begin, std::size_t bytes) noexcept {
    constexpr std::uintptr_t kMask = kPageSize - 1;
    const std::uintptr_t first = (begin + kMask) & ~kMask, last = (begin + bytes) & ~kMask;
    if (first < last) use(context, reinterpret_cast<void*>(first), last - first);
  };
  if (const RankState* const state = rank_state(rank)) {
    state->for_each_image([&](const ImageSet& set, int index) { set.for_each_writable(index, pages); });
  }
  if (g_noted) blocks().for_each_of(rank, pages);
}

}  // namespace tmpi::privatize
