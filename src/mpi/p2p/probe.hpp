// Probing for messages without receiving them, and matched probes. MPI report, 3.8.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/match/message.hpp"

namespace tmpi::mpi {

/// What a probe learns about a message.
struct Envelope {
  int source = MPI_PROC_NULL;
  int tag = MPI_ANY_TAG;
  MPI_Count bytes = 0;
};

/// Looks for a message without taking it. Does not suspend, but the API lets other ranks run after a false.
bool iprobe(Comm& comm, int source, int tag, Envelope& envelope) noexcept;
/// Waits for a message. SUSPENDS unless one is there.
void probe(Comm& comm, int source, int tag, Envelope& envelope) noexcept;

/// The same, but takes the message out of the matcher: only MPI_Mrecv or MPI_Imrecv of this rank can receive
/// it now.
Message* improbe(Comm& comm, int source, int tag, Envelope& envelope) noexcept;
Message* mprobe(Comm& comm, int source, int tag, Envelope& envelope) noexcept;

}  // namespace tmpi::mpi
