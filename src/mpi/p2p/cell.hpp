// Cells: pooled memory for small messages that arrive before their receive. Taken on the sender's worker,
// given back on the receiver's; each worker keeps a bounded stock without locks, surplus travels through a
// shared depot in batches. Any thread (those that are no workers use the depot); does not suspend.
#pragma once

#include "mpi/match/message.hpp"

namespace tmpi::mpi {

/// A message with room for `bytes` bytes of payload behind it (message.payload points there); null if memory
/// is exhausted, and the sender then leaves a descriptor of its own buffer instead.
Message* take_cell(MPI_Count bytes) noexcept;
void give_back_cell(Message* cell) noexcept;

/// Where the room behind a cell begins: what its payload points to unless the user of the cell keeps
/// something of his own there before it (and then sets the payload back before giving the cell back).
void* cell_room(Message* cell) noexcept;

/// The writable payload of a cell.
inline void* cell_payload(Message* cell) noexcept {
  return const_cast<void*>(cell->payload);
}

}  // namespace tmpi::mpi
