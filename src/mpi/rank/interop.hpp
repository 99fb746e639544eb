// What the calling rank keeps for other languages (base/interop.hpp).
#pragma once

#include "mpi/base/interop.hpp"

namespace tmpi::mpi {

/// The calling rank's, or the process's outside ranks. Any thread of the rank; does not suspend.
Interop& interop() noexcept;

}  // namespace tmpi::mpi
