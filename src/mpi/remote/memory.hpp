// Memory that the protocols need for a message on its way.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi.h"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi::remote {

/// Ends the job: there are not even `bytes` bytes for a message of this rank. Says so, and what to do.
[[noreturn, gnu::cold]] void out_of_memory(Rank& rank, MPI_Count bytes) noexcept;

/// Memory for a packed piece of a message that the rank sends or receives. Ends the job if there is none.
std::unique_ptr<std::byte[]> take_memory(Rank& rank, MPI_Count bytes) noexcept;

}  // namespace tmpi::mpi::remote
