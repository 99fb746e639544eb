// libtmpi-heap.so: malloc of ranks that can be saved and revived (--migratable). Each rank has a copy of this library and of
// Boost.Container, whose allocator keeps all that it knows in variables and in memory from mmap: with a rank's own mmap
// (rank_slots.hpp) everything lies in the rank's slot, bookkeeping included. libc's malloc is the node process's, one for
// all ranks. docs/design/checkpoint.md.
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <boost/container/detail/dlmalloc.hpp>

namespace heap = boost::container;

namespace {

constexpr size_t kLeastAlignment = 16;

void* or_errno(void* block) noexcept {
  if (block == nullptr) errno = ENOMEM;
  return block;
}

size_t page_size() noexcept {
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

bool is_power_of_two(size_t number) noexcept {
  return number != 0 && (number & (number - 1)) == 0;
}

void* aligned(size_t alignment, size_t bytes) noexcept {
  return alignment <= kLeastAlignment ? heap::dlmalloc_malloc(bytes)
                                      : heap::dlmalloc_memalign(bytes, alignment);
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) noexcept {
  return or_errno(heap::dlmalloc_malloc(bytes));
}

void free(void* block) noexcept {
  const int kept = errno;
  if (block != nullptr) heap::dlmalloc_free(block);
  errno = kept;
}
void cfree(void* block) noexcept {
  free(block);
}
void free_sized(void* block, size_t) noexcept {
  free(block);
}
void free_aligned_sized(void* block, size_t, size_t) noexcept {
  free(block);
}

void* calloc(size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return or_errno(nullptr);
  void* const block = malloc(all);
  return block != nullptr ? memset(block, 0, all) : nullptr;
}

size_t malloc_usable_size(void* block) noexcept {
  return block != nullptr ? heap::dlmalloc_size(block) : 0;
}

void* realloc(void* block, size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  const size_t before = heap::dlmalloc_size(block);
  if (bytes <= before && bytes >= before / 2) return block;
  size_t received = 0;
  if (bytes > before && heap::dlmalloc_grow(block, bytes, bytes, &received) != 0) return block;
  void* const moved = malloc(bytes);
  if (moved == nullptr) return bytes <= before ? block : nullptr;
  memcpy(moved, block, before < bytes ? before : bytes);
  free(block);
  return moved;
}
void* reallocarray(void* block, size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return or_errno(nullptr);
  return realloc(block, all);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const made = aligned(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  if (alignment > SIZE_MAX / 2 + 1) return or_errno(nullptr);
  if (alignment < kLeastAlignment) alignment = kLeastAlignment;
  while (!is_power_of_two(alignment))
    alignment += alignment & (0 - alignment);  // as libc's: the next power of two
  return or_errno(aligned(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return or_errno(aligned(alignment, bytes));
}
void* valloc(size_t bytes) noexcept {
  return memalign(page_size(), bytes);
}
void* pvalloc(size_t bytes) noexcept {
  const size_t page = page_size();
  return bytes > SIZE_MAX - page ? or_errno(nullptr) : memalign(page, (bytes + page - 1) / page * page);
}

int malloc_trim(size_t pad) noexcept {
  return heap::dlmalloc_trim(pad);
}
}
