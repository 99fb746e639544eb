// Args: the arguments of one member's call of a collective, in one form for all of them, so that algorithms
// have one signature and the selection table can name them. Lies on the member's stack, or in the operation
// if it is a nonblocking one; others read it in shared memory while the member waits.
#pragma once

#include <cstring>

#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rank/advice.hpp"

namespace tmpi::mpi {

enum class Collective : unsigned char {
  kBarrier,
  kBcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kScan,
  kExscan,
  kNeighborAllgather,
  kNeighborAlltoall
};
static_assert(static_cast<int>(Collective::kNeighborAlltoall) + 1 == kCollectives);

/// An array of counts or displacements of either width (int, or the MPI_Count and MPI_Aint of the large-count
/// functions).
class Numbers {
 public:
  static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint));
  // Not defaulted: what contains it is then set member by member, instead of cleared as a whole by a string
  // instruction, which takes longer than the argument checks of a call.
  Numbers() noexcept {}
  Numbers(const int* narrow) noexcept : array_(narrow) {}
  Numbers(const MPI_Count* wide) noexcept : array_(wide), wide_(true) {}
  explicit operator bool() const noexcept { return array_ != nullptr; }
  MPI_Count operator[](int i) const noexcept {
    return wide_ ? static_cast<const MPI_Count*>(array_)[i] : static_cast<const int*>(array_)[i];
  }
  /// The bits that the first `count` have among them: negative if one of them is, else no less than any of them.
  MPI_Count bits(int count) const noexcept {
    return wide_ ? bits_of(static_cast<const MPI_Count*>(array_), count)
                 : bits_of(static_cast<const int*>(array_), count);
  }
  /// Whether one of the first `count` is negative.
  bool any_negative(int count) const noexcept { return bits(count) < 0; }

  const void* begin() const noexcept { return array_; }
  /// The memory of the first `count`.
  std::size_t bytes(int count) const noexcept {
    return static_cast<std::size_t>(count) * (wide_ ? sizeof(MPI_Count) : sizeof(int));
  }
  /// They stand at `array` now, of the same width.
  void move_to(const void* array) noexcept { array_ = array; }

 private:
  template <class Int>
  static Int bits_of(const Int* numbers, int count) noexcept {
    Int all = 0;
    for (int i = 0; i < count; ++i) all |= numbers[i];
    return all;
  }

  const void* array_ = nullptr;
  bool wide_ = false;
};

/// Data of one layout at one place.
struct Chunk {
  void* data;
  MPI_Count count;
  const Datatype* type;
  MPI_Count bytes() const noexcept { return count * type->size(); }
};

/// The type behind a handle that the argument checks have let pass.
inline const Datatype* checked_type(MPI_Datatype handle) noexcept {
  const Datatype* type = datatype_from(handle);
  if (type == nullptr) __builtin_unreachable();
  return type;
}

/// One side of a collective, which exchanges a chunk with each member. Regular: chunk i lies i * count
/// elements behind `data`. With `counts`: the v-variants. With `types`: alltoallw, displacements in bytes.
struct Side {
  void* data = nullptr;  ///< not written through on the sending side
  MPI_Count count = 0;
  const Datatype* type = nullptr;
  Numbers counts;
  Numbers displs;
  const MPI_Datatype* types = nullptr;
  int chunks = 0;  ///< the length of the arrays above, in the arguments of a user's call

  Chunk whole() const noexcept { return {data, count, type}; }
  [[gnu::always_inline]] Chunk chunk(int i) const noexcept {
    std::byte* base = static_cast<std::byte*>(data);
    if (!counts) return {base + i * count * type->extent(), count, type};
    if (types == nullptr) return {base + displs[i] * type->extent(), counts[i], type};
    return {base + displs[i], counts[i], checked_type(types[i])};
  }
};

struct Args {
  Collective collective = Collective::kBarrier;
  Side send;  ///< with in_place: undefined for reductions' and exchanges' input, which is in `recv`
  Side recv;
  const Op* op = nullptr;
  int root = 0;             ///< of an intercommunicator also MPI_ROOT or MPI_PROC_NULL
  bool in_place = false;    ///< this member passed MPI_IN_PLACE
  bool ragged = false;      ///< a v- or w-variant: chunks may differ in size
  int error = MPI_SUCCESS;  ///< found by a member that worked for this one; the member words it when it wakes

  /// The vector that a member brings to a reduction.
  const std::byte* input() const noexcept {
    return static_cast<const std::byte*>(in_place ? recv.data : send.data);
  }
};

/// Elements that `member` gets of a reduce_scatter's result.
inline MPI_Count reduced_count(const Args& args, int member) noexcept {
  return args.recv.counts ? args.recv.counts[member] : args.recv.count;
}

/// memcpy without the call for what a single number takes, which is most of what small collectives move.
inline void copy_bytes(void* to, const void* from, MPI_Count bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

/// Copies a chunk; false if `to` is of another size: what is too much is cut off.
inline bool copy_chunk(const Chunk& to, const Chunk& from) {
  const MPI_Count bytes = from.bytes(), room = to.bytes();
  if (to.type->contiguous() && from.type->contiguous()) {
    copy_bytes(to.data, from.data, bytes < room ? bytes : room);
  } else if (bytes > 0 && room > 0) {
    copy_typed(to.data, to.count, *to.type, from.data, from.count, *from.type);
  }
  return bytes == room;
}

/// Copies a chunk to or from packed bytes; unpacking returns false if `to` is of another size, and cuts off what
/// is too much.
inline void pack_chunk(std::byte* packed, const Chunk& from) {
  const MPI_Count bytes = from.bytes();
  if (from.type->contiguous()) {
    copy_bytes(packed, from.data, bytes);
  } else {
    pack_segment(packed, from.data, from.count, *from.type, 0, bytes);
  }
}
inline bool unpack_chunk(const Chunk& to, const std::byte* packed, MPI_Count bytes) {
  const MPI_Count room = to.bytes(), length = bytes < room ? bytes : room;
  if (to.type->contiguous()) {
    copy_bytes(to.data, packed, length);
  } else {
    unpack_segment(to.data, to.count, *to.type, packed, 0, length);
  }
  return bytes == room;
}

/// The error of a member that was sent another amount of data than it expects.
#define TMPI_TRUNCATED_CHUNK                                                                                 \
  "a member sent more or less data than the receiver's count and datatype say: the counts and datatypes of " \
  "the members do not fit together"
inline const char* truncated_chunk_text() noexcept {
  return job_is_checked() ? TMPI_TRUNCATED_CHUNK
                          : TMPI_TRUNCATED_CHUNK
             ". Run the job with --check: it says where each of them makes the call";
}
#undef TMPI_TRUNCATED_CHUNK
inline Err truncated_chunk() {
  return fail(MPI_ERR_TRUNCATE, "{}", truncated_chunk_text());
}
inline Err error_of(const Args& args) {
  return args.error == MPI_SUCCESS ? kOk : truncated_chunk();
}

}  // namespace tmpi::mpi
