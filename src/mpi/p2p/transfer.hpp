// Moving the data of one matched message, done by whoever came second and under no lock. Shared by send,
// receive and mprobe.
#pragma once

#include "mpi/rank/rank.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// What is sent: a buffer in the user's layout.
struct Outgoing {
  const void* buffer;
  MPI_Count count;
  const Datatype& type;
  MPI_Count bytes;           ///< count * type.size()
  std::uint16_t serial = 0;  ///< Message::serial
};

/// Sender's side: copies straight into a posted receive's buffer and completes that receive, which may be
/// gone afterwards. `here`: the receiver is a rank of the caller's worker.
void deliver(Request& receive, const MatchKey& key, const Outgoing& data, bool here) noexcept;

/// Writes the data's packed bytes.
void pack(void* packed, const Outgoing& data) noexcept;

/// Fills a receive from packed bytes (a cell, a channel): buffer and outcome, without completing it.
void receive_packed(Request& receive, const MatchKey& key, const void* packed, MPI_Count bytes) noexcept;

/// Fills a receive's outcome alone: source, tag, error, bytes, which are returned: so many of the message's
/// fit.
MPI_Count note_outcome(Request& receive, const MatchKey& key, MPI_Count bytes) noexcept;

/// Receiver's side: copies an unexpected message that has been taken out of the matcher into the receive's
/// buffer, completes a waiting sender or gives the cell back, and fills the receive's outcome (source, tag,
/// bytes, error) without completing it. False: the data lies on another node; the receive, pending, completes
/// when it is here.
bool accept(Request& receive, Message& message) noexcept;

/// The process behind a rank of the communicator; null if it lives on another node.
inline Rank* process(const Comm& comm, int rank) noexcept {
  return job()->local(comm.shared->peers->world_rank(rank));
}

}  // namespace tmpi::mpi
