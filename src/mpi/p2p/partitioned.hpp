// Partitioned point-to-point communication: a persistent message whose partitions the sender releases one by
// one, and the receiver may use one by one. The two sides may divide it differently. MPI report, chapter 4;
// docs/design/matching.md.
#pragma once

#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// Messages that bring the two sides together travel in a context of their own: partitioned operations match
/// only each other, in the order of their initialization.
inline constexpr ContextId kPartitioned = ContextId{1} << 62;

/// One side of the operation: `partitions` times `count` elements of `type`. Arguments have been checked.
struct PartitionedBuffer {
  void* buffer;  ///< never written through for a send
  int partitions;
  MPI_Count count;
  const Datatype& type;
};

/// An inactive persistent request each. Do not suspend.
Request& create_partitioned_send(Comm& comm, const PartitionedBuffer& data, int dest, int tag);
Request& create_partitioned_recv(Comm& comm, const PartitionedBuffer& data, int source, int tag);

/// Releases partitions low .. high of an active send; data moves now if the receive has been started.
/// MPI_ERR_REQUEST: no active partitioned send. MPI_ERR_ARG: no such partition, or released before. Any
/// thread of the rank, also several at a time. Does not suspend.
Err partitions_ready(Request* request, int low, int high);

/// Has the partition arrived? Also true for a null or inactive request. MPI_ERR_REQUEST: no partitioned
/// receive. MPI_ERR_ARG: no such partition. Does not suspend.
Err partition_arrived(Request* request, int partition, bool& arrived);

}  // namespace tmpi::mpi
