// What a call was about: bytes, peer, tag and communicator, read from its arguments after it has succeeded.
// All decisions about which argument is which are made at compile time (shape.hpp). Called by the rank that
// has made the call; does not suspend.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>

#include "mpi.h"
#include "mpi/rank/rank.hpp"
#include "observe/event.hpp"
#include "observe/shape.hpp"

namespace tmpi::observe {

struct Measured {
  std::int64_t bytes = 0;
  std::uint64_t context = 0;  ///< of the communicator, 0: none
  int peer = Event::kNobody;
  int tag = Event::kNobody;
  bool rooted = false;  ///< `peer` is the root of a collective
};

MPI_Count size_of(MPI_Datatype type) noexcept;            ///< 0 if it is no type
MPI_Count size_of_request(MPI_Request request) noexcept;  ///< of the buffer of a persistent operation
MPI_Count bytes_of(const MPI_Status& status) noexcept;
int destinations_of(MPI_Comm comm) noexcept;  ///< of a topology

namespace detail {

// Arguments that are one number in some functions and one per member in others.
template <std::integral Count>
MPI_Count count_at(Count count, int) noexcept {
  return count;
}
template <std::integral Count>
MPI_Count count_at(const Count* counts, int index) noexcept {
  return counts[index];
}
inline MPI_Count size_at(MPI_Datatype type, int) noexcept {
  return size_of(type);
}
inline MPI_Count size_at(const MPI_Datatype* types, int index) noexcept {
  return size_of(types[index]);
}

template <class Counts, class Types>
MPI_Count sum(Counts counts, Types types, int parts) noexcept {
  MPI_Count bytes = 0;
  for (int i = 0; i < parts; ++i) bytes += count_at(counts, i) * size_at(types, i);
  return bytes;
}

/// The arguments of a call under the names of Shape.
template <Shape kShape, class Arguments>
struct Reader {
  const Arguments& arguments;
  const mpi::Comm* comm = nullptr;

  template <int kIndex>
  auto at() const noexcept {
    return std::get<static_cast<std::size_t>(kIndex)>(arguments);
  }
  int members() const noexcept { return comm == nullptr ? 0 : comm->peers; }
  int rank() const noexcept { return comm == nullptr ? 0 : comm->rank; }

  MPI_Count sent(int parts) const noexcept { return sum(at<kShape.count>(), at<kShape.type>(), parts); }
  MPI_Count to_receive(int parts) const noexcept {
    return sum(at<kShape.receive_count>(), at<kShape.receive_type>(), parts);
  }
  MPI_Count own_part_to_receive() const noexcept {
    return count_at(at<kShape.receive_count>(), rank()) * size_at(at<kShape.receive_type>(), rank());
  }

  bool nobody() const noexcept {
    if constexpr (kShape.peer != Shape::kAbsent) return at<kShape.peer>() == MPI_PROC_NULL;
    if constexpr (kShape.root != Shape::kAbsent) return at<kShape.root>() == MPI_PROC_NULL;
    return false;
  }

  MPI_Count scattered() const noexcept {
    const int root = at<kShape.root>();
    const bool is_root = root == MPI_ROOT || (comm != nullptr && !comm->inter() && root == comm->rank);
    return is_root ? sent(members()) : to_receive(1);
  }

  MPI_Count contribution() const noexcept {
    if constexpr (kShape.root != Shape::kAbsent) {
      if (at<kShape.root>() == MPI_ROOT) return 0;
    }
    return at<kShape.send_buffer>() == MPI_IN_PLACE ? own_part_to_receive() : sent(1);
  }

  MPI_Count started() const noexcept {
    MPI_Count bytes = 0;
    int requests = 1;
    if constexpr (kShape.count != Shape::kAbsent) requests = at<kShape.count>();
    for (int i = 0; i < requests; ++i) bytes += size_of_request(at<kShape.request>()[i]);
    return bytes;
  }

  MPI_Count bytes() const noexcept {
    if (nobody()) return 0;
    if constexpr (kShape.bytes == Bytes::kBuffer) return sent(1);
    if constexpr (kShape.bytes == Bytes::kReceived) return bytes_of(*at<kShape.status>());
    if constexpr (kShape.bytes == Bytes::kStarted || kShape.bytes == Bytes::kStartedAll) return started();
    if constexpr (kShape.bytes == Bytes::kContribution) return contribution();
    if constexpr (kShape.bytes == Bytes::kToEach || kShape.bytes == Bytes::kToEachVarying)
      return at<kShape.send_buffer>() == MPI_IN_PLACE ? to_receive(members()) : sent(members());
    if constexpr (kShape.bytes == Bytes::kToNeighbours || kShape.bytes == Bytes::kToNeighboursVarying)
      return sent(destinations_of(comm->handle));
    if constexpr (kShape.bytes == Bytes::kScattered || kShape.bytes == Bytes::kScatteredVarying)
      return scattered();
    if constexpr (kShape.bytes == Bytes::kReducedVarying || kShape.bytes == Bytes::kReducedToEach)
      return sum(at<kShape.receive_count>(), at<kShape.type>(), comm->shared->group->size());
    return 0;
  }
};

}  // namespace detail

/// `arguments`: a tuple of the call's arguments.
template <Shape kShape, class Arguments>
Measured measure(const Arguments& arguments) noexcept {
  Measured measured;
  detail::Reader<kShape, Arguments> reader{arguments};
  if constexpr (kShape.comm != Shape::kAbsent) {
    reader.comm = mpi::comm_from(reader.template at<kShape.comm>());
    if (reader.comm == nullptr) return measured;
    measured.context = reader.comm->context;
  }
  if constexpr (kShape.peer != Shape::kAbsent) measured.peer = reader.template at<kShape.peer>();
  if constexpr (kShape.root != Shape::kAbsent) {
    measured.peer = reader.template at<kShape.root>();
    measured.rooted = true;
  }
  if constexpr (kShape.tag != Shape::kAbsent) measured.tag = reader.template at<kShape.tag>();
  if constexpr (kShape.bytes == Bytes::kReceived) {
    const MPI_Status* status = reader.template at<kShape.status>();
    measured.peer = status->MPI_SOURCE;
    measured.tag = status->MPI_TAG;
  }
  measured.bytes = reader.bytes();
  return measured;
}

}  // namespace tmpi::observe
