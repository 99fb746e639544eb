// Loops that move bytes: the inner loops of pack, unpack and typed copies. Addresses are integers, because a
// buffer may be MPI_BOTTOM (null) with absolute displacements, on which pointer arithmetic would be
// undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi.h"

namespace tmpi::mpi {

using Address = std::uintptr_t;

inline Address address_of(const void* pointer) noexcept {
  return reinterpret_cast<Address>(pointer);
}
inline Address moved(Address base, MPI_Count offset) noexcept {
  return base + static_cast<Address>(offset);
}

template <std::size_t kBytes>
inline void copy_fixed(Address dst, Address src) noexcept {
  std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), kBytes);
}

/// Copies one run. Short ones with two possibly overlapping moves: a call of memcpy costs more than they do.
inline void copy_run(Address dst, Address src, MPI_Count length) noexcept {
  const auto n = static_cast<std::size_t>(length);
  auto* const to = reinterpret_cast<char*>(dst);
  const auto* const from = reinterpret_cast<const char*>(src);
  if (n > 32) {
    std::memcpy(to, from, n);
  } else if (n >= 16) {
    char head[16], tail[16];
    std::memcpy(head, from, 16);
    std::memcpy(tail, from + n - 16, 16);
    std::memcpy(to, head, 16);
    std::memcpy(to + n - 16, tail, 16);
  } else if (n >= 8) {
    std::uint64_t head, tail;
    std::memcpy(&head, from, 8);
    std::memcpy(&tail, from + n - 8, 8);
    std::memcpy(to, &head, 8);
    std::memcpy(to + n - 8, &tail, 8);
  } else if (n >= 4) {
    std::uint32_t head, tail;
    std::memcpy(&head, from, 4);
    std::memcpy(&tail, from + n - 4, 4);
    std::memcpy(to, &head, 4);
    std::memcpy(to + n - 4, &tail, 4);
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

/// Copies `count` blocks of `length` bytes whose starts are `dstride` and `sstride` apart.
void copy_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count length,
                 MPI_Count count) noexcept;

}  // namespace tmpi::mpi
