#include "mpi/coll/fold.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/platform.hpp"

namespace tmpi::mpi {
namespace {

// A user's function may count on getting whole vectors, so only predefined operators are folded across
// vectors.
bool by_halves(const Op& op) noexcept {
  return op.commutative && op.user == nullptr && op.user_c == nullptr;
}

// Combines vector i with vector i + n/2 (rounded up) in one call, and so on: log n calls for small data of
// many members.
void fold_by_halves(const Op& op, const Datatype& type, MPI_Count count, std::byte* cells, int n) {
  while (n > 1) {
    const int upper = n / 2, kept = n - upper;
    reduce_local(op, cells + kept * dense_bytes(type, count), cells, upper * count, type);
    n = kept;
  }
}

struct ScratchBuffer {
  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity = 0;
};

}  // namespace

void copy_elements(std::byte* to, const std::byte* from, MPI_Count first, MPI_Count count,
                   const Datatype& type) {
  const MPI_Count offset = first * type.extent();
  if (type.contiguous()) {
    std::memcpy(to + offset, from + offset, static_cast<std::size_t>(count * type.extent()));
  } else {
    copy_typed(to + offset, count, type, from + offset, count, type);
  }
}

// x0 op (x1 op (x2 op ...)): the form in which MPI's operators need no copies.
std::byte* fold_in_order(const Op& op, const Datatype& type, MPI_Count count, std::byte* vectors, int n) {
  const MPI_Count stride = dense_bytes(type, count);
  std::byte* result = vectors + (n - 1) * stride;
  for (int i = n - 2; i >= 0; --i) reduce_local(op, vectors + i * stride, result, count, type);
  return result;
}

std::byte* fold_cells(const Op& op, const Datatype& type, MPI_Count count, std::byte* cells, int n) {
  if (!by_halves(op)) return fold_in_order(op, type, count, cells, n);
  fold_by_halves(op, type, count, cells, n);
  return cells;
}

std::byte* folded(const Op& op, const Datatype& type, MPI_Count count, std::byte* cells, int n) {
  return by_halves(op) ? cells : cells + (n - 1) * dense_bytes(type, count);
}

ElementRoom room_for(const Datatype& type, MPI_Count count) noexcept {
  constexpr MPI_Count kLine = kCacheLine;
  const MPI_Count steps = count > 0 ? (count - 1) * type.extent() : 0;
  const MPI_Count below = std::min<MPI_Count>(steps, 0);  // a negative extent leads downwards
  const MPI_Count lowest = type.true_lb() + below;
  return {static_cast<std::size_t>(type.true_extent() + (steps - 2 * below)) + 2 * kCacheLine,
          lowest > 0 ? -(lowest / kLine) * kLine : (-lowest + kLine - 1) / kLine * kLine};
}

std::byte* scratch_elements(int which, MPI_Count count, const Datatype& type) {
  static thread_local ScratchBuffer buffers[3];
  ScratchBuffer& buffer = buffers[which];
  const ElementRoom room = room_for(type, count);
  if (buffer.capacity < room.bytes) {
    buffer.memory = std::make_unique_for_overwrite<std::byte[]>(room.bytes);
    buffer.capacity = room.bytes;
  }
  return buffer.memory.get() + room.origin;
}

MPI_Count elements_in(MPI_Count bytes, const Datatype& type) noexcept {
  return std::max<MPI_Count>(1, bytes / std::max<MPI_Count>(1, std::abs(type.extent())));
}

void fold_block(const Op& op, const Datatype& type, Args* const* members, int n, MPI_Count first,
                MPI_Count count, std::byte* result) {
  const MPI_Count offset = first * type.extent();
  copy_elements(result, members[n - 1]->input() + offset, 0, count, type);
  for (int i = n - 2; i >= 0; --i) {
    fetch_ahead(members, n, i, -1, offset);
    reduce_local(op, members[i]->input() + offset, result, count, type);
  }
}

}  // namespace tmpi::mpi
