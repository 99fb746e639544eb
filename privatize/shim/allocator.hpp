// Whose malloc a rank has, and memory of libc's as memory of the rank.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "privatize/shim/host/libc_originals.hpp"

namespace tmpi::shim {

/// malloc is not libc's here.
inline bool has_own_malloc() noexcept {
  return &malloc != tmpi_libc.malloc;
}

/// The bytes again in the rank's memory; errno as malloc leaves it.
inline void* copy_of(const void* bytes, size_t size) noexcept {
  void* const copy = malloc(size);
  return copy != nullptr ? memcpy(copy, bytes, size) : nullptr;
}

/// What libc has allocated, as memory of the rank.
inline void* take_over(void* from_libc, size_t size) noexcept {
  if (from_libc == nullptr || !has_own_malloc()) return from_libc;
  void* const copy = copy_of(from_libc, size);
  tmpi_libc.free(from_libc);
  return copy;
}

inline char* take_over(char* from_libc) noexcept {
  return static_cast<char*>(take_over(from_libc, from_libc != nullptr ? strlen(from_libc) + 1 : 0));
}

}  // namespace tmpi::shim
