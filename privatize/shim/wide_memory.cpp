#include "privatize/shim/wide_memory.hpp"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "privatize/shim/allocator.hpp"
#include "privatize/shim/lock.hpp"

namespace tmpi::shim {
namespace {

/// libc writes into memory of its own; the program's is made from it when the program may look.
struct WideMemory {
  FILE* stream;
  wchar_t** data;
  size_t* size;
  wchar_t* from_libc;
  size_t size_from_libc;
  WideMemory* next;
};

Lock lock;
WideMemory* first;

WideMemory** place_of(const FILE* stream) noexcept {
  WideMemory** place = &first;
  while (*place != nullptr && (*place)->stream != stream) place = &(*place)->next;
  return place;
}

int show(const WideMemory& memory) noexcept {
  const size_t bytes = (memory.size_from_libc + 1) * sizeof(wchar_t);
  auto* const copy = static_cast<wchar_t*>(realloc(*memory.data, bytes));
  if (copy == nullptr) return EOF;
  memcpy(copy, memory.from_libc, bytes);
  *memory.data = copy;
  *memory.size = memory.size_from_libc;
  return 0;
}

FILE* open_wide(wchar_t** data, size_t* size) noexcept {
  auto* const memory = static_cast<WideMemory*>(calloc(1, sizeof(WideMemory)));
  if (memory == nullptr) return nullptr;
  *data = nullptr;
  *size = 0;
  memory->data = data;
  memory->size = size;
  memory->stream = tmpi_libc.open_wmemstream(&memory->from_libc, &memory->size_from_libc);
  if (memory->stream == nullptr) {
    free(memory);
    return nullptr;
  }
  const Locked locked(lock);
  memory->next = first;
  first = memory;
  return memory->stream;
}

}  // namespace

int wide_memory_flushed(FILE* stream) noexcept {
  if (first == nullptr) return 0;
  const Locked locked(lock);
  const WideMemory* const memory = *place_of(stream);
  return memory != nullptr ? show(*memory) : 0;
}

int wide_memory_closed(FILE* stream) noexcept {
  if (first == nullptr) return 0;
  WideMemory* memory;
  {
    const Locked locked(lock);
    WideMemory** const place = place_of(stream);
    memory = *place;
    if (memory == nullptr) return 0;
    *place = memory->next;
  }
  const int result = show(*memory);
  tmpi_libc.free(memory->from_libc);
  free(memory);
  return result;
}

extern "C" FILE* open_wmemstream(wchar_t** data, size_t* size) noexcept {
  return has_own_malloc() ? open_wide(data, size) : tmpi_libc.open_wmemstream(data, size);
}

}  // namespace tmpi::shim
