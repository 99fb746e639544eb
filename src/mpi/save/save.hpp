// Saving ranks: all ranks of the job stop at the same call, MPIX_Checkpoint, with no message under way; what MPI knows of each
// travels as data, and its objects are made anew where their handles point to. The rank's memory, and what else is not MPI's,
// is the host's affair (SavingCallbacks). docs/design/checkpoint.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/base/error.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// MPIX_Checkpoint (mpix.h): collective over MPI_COMM_WORLD; `stack`: the caller's, as return_point.S has left it. Fails on all
/// ranks or on none. SUSPENDS.
Err checkpoint(Rank& rank, const char* directory, const void* stack);

/// A checkpoint of this number is there: the next one's is larger. Any thread.
void newest_checkpoint_is(std::uint64_t number) noexcept;

/// MPI as the rank has known it when `state` was saved; on its fiber, in place of its call of MPI_Init (which gather_files()
/// may have been before). All ranks of the job do it. SUSPENDS. Failure: `state` is damaged.
Err revive(Rank& rank, std::span<const std::byte> state);

/// Returns when all ranks are there, with their memory: others may write to it, once they go on. SUSPENDS.
Err wait_for_revived(Rank& rank);

/// The rank's program goes on, with the stack that was saved. Called on a part of its stack that is not in use there.
extern "C" [[noreturn]] void tmpi_go_on_at(const void* stack);

}  // namespace tmpi::mpi
