#include "observe/measure.hpp"

#include "mpi.h"
#include "mpi/base/status.hpp"
#include "mpi/comm/topology.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::observe {
namespace {

/// 0 if it is no type.
MPI_Count size_of(MPI_Datatype type) noexcept {
  const mpi::Datatype* known = mpi::datatype_from(type);
  return known == nullptr ? 0 : known->size();
}

/// Of the buffer of a persistent operation.
MPI_Count size_of_request(MPI_Request handle) noexcept {
  mpi::Request* request = nullptr;
  if (mpi::request_from(handle, request) || request == nullptr) return 0;
  if (request->type == nullptr || request->peer == MPI_PROC_NULL)
    return 0;  // an operation of several messages
  return request->count * request->type->size();
}

/// Of a topology.
int destinations_of(const mpi::Comm& comm) noexcept {
  const mpi::Neighbours* neighbours = nullptr;
  if (mpi::neighbours(comm, neighbours)) return 0;
  return static_cast<int>(neighbours->destinations.size());
}

/// The arguments of a call under the names of Shape.
struct Reader {
  const Shape& shape;
  const std::uint64_t* words;
  const mpi::Comm* comm = nullptr;

  static bool has(int argument) noexcept { return argument != Shape::kAbsent; }
  MPI_Count number(int argument) const noexcept { return static_cast<MPI_Count>(words[argument]); }
  template <class Pointer>
  Pointer pointer(int argument) const noexcept {
    return reinterpret_cast<Pointer>(words[argument]);
  }
  int members() const noexcept { return comm == nullptr ? 0 : comm->peers; }
  int rank() const noexcept { return comm == nullptr ? 0 : comm->rank; }

  // Arguments that are one in some functions and one per member in others.
  MPI_Count count_at(int argument, bool each, int index) const noexcept {
    if (!each) return number(argument);
    return shape.large ? pointer<const MPI_Count*>(argument)[index] : pointer<const int*>(argument)[index];
  }
  MPI_Count size_at(int argument, int index) const noexcept {
    return size_of(shape.types ? pointer<const MPI_Datatype*>(argument)[index]
                               : pointer<MPI_Datatype>(argument));
  }
  MPI_Count sum(int count, bool each, int type, int parts) const noexcept {
    MPI_Count bytes = 0;
    for (int i = 0; i < parts; ++i) bytes += count_at(count, each, i) * size_at(type, i);
    return bytes;
  }

  MPI_Count sent(int parts) const noexcept { return sum(shape.count, shape.counts, shape.type, parts); }
  MPI_Count to_receive(int parts) const noexcept {
    return sum(shape.receive_count, shape.receive_counts, shape.receive_type, parts);
  }
  MPI_Count own_part_to_receive() const noexcept {
    return count_at(shape.receive_count, shape.receive_counts, rank()) * size_at(shape.receive_type, rank());
  }
  bool in_place() const noexcept { return pointer<const void*>(shape.send_buffer) == MPI_IN_PLACE; }

  bool nobody() const noexcept {
    if (has(shape.peer)) return number(shape.peer) == MPI_PROC_NULL;
    return has(shape.root) && number(shape.root) == MPI_PROC_NULL;
  }

  MPI_Count scattered() const noexcept {
    const MPI_Count root = number(shape.root);
    const bool is_root = root == MPI_ROOT || (comm != nullptr && !comm->inter() && root == comm->rank);
    return is_root ? sent(members()) : to_receive(1);
  }

  MPI_Count contribution() const noexcept {
    if (has(shape.root) && number(shape.root) == MPI_ROOT) return 0;
    return in_place() ? own_part_to_receive() : sent(1);
  }

  MPI_Count started(MPI_Count requests) const noexcept {
    MPI_Count bytes = 0;
    for (MPI_Count i = 0; i < requests; ++i)
      bytes += size_of_request(pointer<MPI_Request*>(shape.request)[i]);
    return bytes;
  }

  MPI_Count bytes() const noexcept {
    if (nobody()) return 0;
    switch (shape.bytes) {
      case Bytes::kNone:
        return 0;
      case Bytes::kBuffer:
        return sent(1);
      case Bytes::kElement:
        return size_at(shape.type, 0);
      case Bytes::kReceived:
      case Bytes::kRead:
        return mpi::status_bytes(*pointer<const MPI_Status*>(shape.status));
      case Bytes::kStarted:
        return started(1);
      case Bytes::kStartedAll:
        return started(number(shape.count));
      case Bytes::kContribution:
        return contribution();
      case Bytes::kToEach:
        return in_place() ? to_receive(members()) : sent(members());
      case Bytes::kToNeighbours:
        return sent(destinations_of(*comm));
      case Bytes::kScattered:
        return scattered();
      case Bytes::kReduced:
        return sum(shape.receive_count, shape.receive_counts, shape.type, comm->shared->group->size());
    }
    return 0;
  }
};

}  // namespace

Measured measure(const Shape& shape, const std::uint64_t* words) noexcept {
  Measured measured;
  Reader reader{shape, words};
  if (Reader::has(shape.comm)) {
    reader.comm = mpi::comm_from(mpi::current_rank(), reader.pointer<MPI_Comm>(shape.comm));
    if (reader.comm == nullptr) return measured;
    measured.context = reader.comm->context;
    measured.comm = reader.comm;
  }
  if (Reader::has(shape.peer)) measured.peer = static_cast<int>(reader.number(shape.peer));
  if (Reader::has(shape.root)) {
    measured.peer = static_cast<int>(reader.number(shape.root));
    measured.rooted = true;
  }
  if (Reader::has(shape.tag)) measured.tag = static_cast<int>(reader.number(shape.tag));
  if (shape.bytes == Bytes::kReceived) {
    const MPI_Status* status = reader.pointer<const MPI_Status*>(shape.status);
    measured.peer = status->MPI_SOURCE;
    measured.tag = status->MPI_TAG;
  }
  measured.bytes = reader.bytes();
  return measured;
}

}  // namespace tmpi::observe
