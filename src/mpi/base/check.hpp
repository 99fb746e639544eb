// Argument checks shared by the API functions: each returns MPI_SUCCESS or the standard's error class with a
// sentence that says which argument, what value, what would be right. MPI report, 9.4 (error classes).
#pragma once

#include "mpi/base/error.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// The largest tag (MPI_TAG_UB).
inline constexpr int kTagUpperBound = 0x7fffffff;

[[gnu::cold]] Err bad_count(MPI_Count count);
[[gnu::cold]] Err bad_type(MPI_Datatype handle);
[[gnu::cold]] Err uncommitted_type();
[[gnu::cold]] Err bad_peer(const Comm& comm, int peer, bool receive);
[[gnu::cold]] Err bad_tag(int tag, bool receive);
[[gnu::cold]] Err bad_root(const Comm& comm, int root);
[[gnu::cold]] Err null_pointer(const char* argument);
[[gnu::cold]] Err null_buffer(MPI_Count count);

inline Err check_count(MPI_Count count) {
  return count < 0 ? bad_count(count) : kOk;
}

/// A datatype for communication: a type, and committed.
inline Err check_type(MPI_Datatype handle, Datatype*& type) {
  type = datatype_from(handle);
  if (type == nullptr) [[unlikely]]
    return bad_type(handle);
  return type->committed() ? kOk : uncommitted_type();
}

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
  return tag < 0 ? bad_tag(tag, false) : kOk;
}
inline Err check_recv_tag(int tag) {
  return tag < 0 && tag != MPI_ANY_TAG ? bad_tag(tag, true) : kOk;
}
inline Err check_root(const Comm& comm, int root) {
  if (static_cast<unsigned>(root) < static_cast<unsigned>(comm.peers)) return kOk;
  return comm.inter() && (root == MPI_ROOT || root == MPI_PROC_NULL) ? kOk : bad_root(comm, root);
}
/// An output argument that must not be NULL.
inline Err check_pointer(const void* pointer, const char* argument) {
  return pointer == nullptr ? null_pointer(argument) : kOk;
}

/// Buffer, count and type of one message. A null buffer is right for no data, and with a derived type of
/// absolute addresses (MPI_BOTTOM).
inline Err check_buffer(const void* buffer, MPI_Count count, MPI_Datatype handle, Datatype*& type) {
  TMPI_TRY(check_count(count));
  TMPI_TRY(check_type(handle, type));
  if (buffer == nullptr && count > 0 && type->size() > 0 && type->predefined()) [[unlikely]]
    return null_buffer(count);
  return kOk;
}

}  // namespace tmpi::mpi
