// Argument checks of ranks, tags and roots (base/check.hpp).
#pragma once

#include "mpi/base/check.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// The largest tag (MPI_TAG_UB). The one above it is no message's: a receive with it takes nothing (src/replay).
inline constexpr int kTagUpperBound = 0x7ffffffe;

[[gnu::cold]] Err bad_peer(const Comm& comm, int peer, bool receive);
[[gnu::cold]] Err bad_tag(int tag, bool receive);
[[gnu::cold]] Err bad_root(const Comm& comm, int root);

/// Destination of a send: a rank of the communicator or MPI_PROC_NULL.
inline Err check_dest(const Comm& comm, int dest) {
  if (static_cast<unsigned>(dest) < static_cast<unsigned>(comm.peers) || dest == MPI_PROC_NULL) return kOk;
  return bad_peer(comm, dest, false);
}
/// Source of a receive: also MPI_ANY_SOURCE.
inline Err check_source(const Comm& comm, int source) {
  if (static_cast<unsigned>(source) < static_cast<unsigned>(comm.peers) || source == MPI_PROC_NULL ||
      source == MPI_ANY_SOURCE)
    return kOk;
  return bad_peer(comm, source, true);
}
inline Err check_send_tag(int tag) {
  return static_cast<unsigned>(tag) > static_cast<unsigned>(kTagUpperBound) ? bad_tag(tag, false) : kOk;
}
inline Err check_recv_tag(int tag) {
  return tag < 0 && tag != MPI_ANY_TAG ? bad_tag(tag, true) : kOk;
}
inline Err check_root(const Comm& comm, int root) {
  if (static_cast<unsigned>(root) < static_cast<unsigned>(comm.peers)) return kOk;
  return comm.inter() && (root == MPI_ROOT || root == MPI_PROC_NULL) ? kOk : bad_root(comm, root);
}

}  // namespace tmpi::mpi
