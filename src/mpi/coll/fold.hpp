// Folding: how the members' vectors are combined. The order is fixed by the members' ranks and the size of
// the data alone, never by who comes when or by the number of workers, so that results repeat bit for bit;
// ranks are combined in order, so that operators need not commute. A user's function is called through the
// calling rank's own operator, on its fiber. Nothing suspends.
#pragma once

#include <algorithm>
#include <cstddef>

#include "mpi/coll/args.hpp"
#include "mpi/shm/arrivals.hpp"
#include "mpi/shm/worker_groups.hpp"

namespace tmpi::mpi {

/// Copies elements [first, first + count) of a vector of `type` to the same elements of another.
void copy_elements(std::byte* to, const std::byte* from, MPI_Count first, MPI_Count count,
                   const Datatype& type);

/// True if elements may be copied as bytes, extent by extent: contiguous types, and the predefined ones
/// (which may have padding).
inline bool dense(const Datatype& type) noexcept {
  return type.contiguous() || type.predefined();
}
/// Bytes of a vector of a dense type.
inline MPI_Count dense_bytes(const Datatype& type, MPI_Count count) noexcept {
  return count * type.extent();
}

/// Combines n vectors of `count` elements that stand one behind the other, in place. The result is at the
/// returned place.
std::byte* fold_cells(const Op& op, const Datatype& type, MPI_Count count, std::byte* cells, int n);
/// The same, one after the other from the last vector on, as large vectors are combined.
std::byte* fold_in_order(const Op& op, const Datatype& type, MPI_Count count, std::byte* vectors, int n);
/// Where fold_cells leaves its result: the same for all members.
std::byte* folded(const Op& op, const Datatype& type, MPI_Count count, std::byte* cells, int n);

/// The memory that `count` elements need: aligned as the memory is if element 0 stands `origin` bytes behind
/// its begin, wherever the type's data lies (the type's lower bound taken off).
struct ElementRoom {
  std::size_t bytes;
  MPI_Count origin;
};
ElementRoom room_for(const Datatype& type, MPI_Count count) noexcept;

/// Memory for `count` elements, kept by the worker from call to call: valid until the fiber suspends, one per
/// `which` at a time. The returned pointer is a buffer in the sense of MPI (the type's lower bound taken
/// off).
std::byte* scratch_elements(int which, MPI_Count count, const Datatype& type);

/// For who goes through n members, up (step 1) or down (-1), and has come to member i: begins to fetch what it will read
/// of some members further on. Their arguments lie on their stacks and their vectors elsewhere, often on pages that this
/// core has not used for a while. (always_inline: gcc takes a function that only fetches for one without effect, and leaves
/// out its calls.)
[[gnu::always_inline]] inline void fetch_ahead(Args* const* members, int n, int i, int step,
                                               MPI_Count offset) noexcept {
  constexpr int kArguments = 8, kVectors = 2;
  const int arguments = i + step * kArguments, vector = i + step * kVectors;
  if (arguments >= 0 && arguments < n) __builtin_prefetch(members[arguments]);
  if (vector >= 0 && vector < n) __builtin_prefetch(members[vector]->input() + offset);
}

/// Bytes that are combined at a time, so that they stay in the level-1 cache; and the unit in which work is divided among
/// worker groups.
inline constexpr MPI_Count kBlockBytes = 8192, kUnitBytes = 1024;

/// As many elements as fit into so many bytes, at least one.
MPI_Count elements_in(MPI_Count bytes, const Datatype& type) noexcept;

/// Combines elements [first, first + count) of all members' inputs into `result` (scratch, element 0 =
/// first).
void fold_block(const Op& op, const Datatype& type, Args* const* members, int n, MPI_Count first,
                MPI_Count count, std::byte* result);

/// Calls body(first, count) for the blocks of worker group `group`'s share of `total` elements.
template <class Body>
void for_blocks(MPI_Count total, const Datatype& type, int group, int groups, Body&& body,
                MPI_Count block_bytes = kBlockBytes) {
  const MPI_Count unit = elements_in(kUnitBytes, type), block = elements_in(block_bytes, type);
  const Share units = share_of((total + unit - 1) / unit, group, groups);
  const MPI_Count last = std::min(units.last * unit, total);
  for (MPI_Count first = units.first * unit; first < last; first += block)
    body(first, std::min(block, last - first));
}

}  // namespace tmpi::mpi
