// Word: a put or get of eight bytes inside the node, which is what most small ones are: nothing but checks and two
// instructions, so all of it is part of the MPI function. Arguments have been checked as for put() and get(). False: it
// is something else, which those do, or refuse.
#pragma once

#include <cstring>

#include "mpi/rma/epoch.hpp"
#include "mpi/rma/operation.hpp"

namespace tmpi::mpi {

/// Where they lie in the window; null: not a word, not here, or not allowed.
[[gnu::always_inline]] inline void* word_at(Window& window, const Data& origin, const Spot& target) noexcept {
  constexpr MPI_Count kSize = 8;
  const WindowShared& members = *window.members;
  MPI_Aint displacement;
  if (target.rank < 0 || origin.bytes() != kSize || target.bytes() != kSize || !origin.type->contiguous() ||
      !target.type->contiguous() || members.flavor == MPI_WIN_FLAVOR_DYNAMIC ||
      !may_access(window, target.rank))
    return nullptr;
  const Extent& extent = members.extent(target.rank);
  if (target.disp < 0 || __builtin_mul_overflow(target.disp, extent.disp_unit, &displacement) ||
      displacement > extent.size - kSize || members.member(target.rank) == nullptr)
    return nullptr;
  note_access(window);
  return reinterpret_cast<void*>(moved(extent.base, displacement));
}

[[gnu::always_inline]] inline bool put_word(Window& window, const Data& origin, const Spot& target) noexcept {
  void* const there = word_at(window, origin, target);
  if (there != nullptr) std::memcpy(there, origin.address, 8);
  return there != nullptr;
}

[[gnu::always_inline]] inline bool get_word(Window& window, const Data& origin, const Spot& target) noexcept {
  const void* const there = word_at(window, origin, target);
  if (there != nullptr) std::memcpy(origin.address, there, 8);
  return there != nullptr;
}

}  // namespace tmpi::mpi
