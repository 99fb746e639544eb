// How the job ends when the library itself cannot go on (base/no_memory.hpp): through the callbacks of the
// program that hosts it.
#pragma once

namespace tmpi::mpi {

/// Once, when the job has been created.
void register_endings() noexcept;

}  // namespace tmpi::mpi
