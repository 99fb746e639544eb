// Memory that the protocols need for a message on its way.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi.h"

namespace tmpi::mpi::remote {

/// Ends the job: there is not even memory for a message. Allocates nothing; also under a matcher's lock.
[[noreturn, gnu::cold]] void out_of_memory() noexcept;

/// Memory for a packed piece of a message. Ends the job if there is none.
std::unique_ptr<std::byte[]> take_memory(MPI_Count bytes) noexcept;

}  // namespace tmpi::mpi::remote
