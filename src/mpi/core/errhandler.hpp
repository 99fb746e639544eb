// Error handlers: what is done with an error on a communicator. MPI report, 9.3.
#pragma once

#include <cstdint>

#include "mpi.h"
#include "mpi/core/error.hpp"

namespace tmpi::mpi {

struct Errhandler {
  static constexpr std::uint32_t kMagic = 0x45484e44;  // "EHND"
  std::uint32_t magic = kMagic;
  MPI_Errhandler predefined = MPI_ERRHANDLER_NULL;   ///< the ABI's constant, if it is one of those
  MPI_Comm_errhandler_function* function = nullptr;  ///< user-defined
  int references = 1;  ///< the handle and every communicator; used by one rank only
};

/// Null for MPI_ERRHANDLER_NULL and for what is no error handler.
Errhandler* errhandler_from(MPI_Errhandler handle) noexcept;
/// Null (a communicator's default) is MPI_ERRORS_ARE_FATAL.
MPI_Errhandler handle_of(Errhandler* handler) noexcept;

/// For communicators that hold or inherit a handler; both accept null and predefined ones.
void retain(Errhandler* handler) noexcept;
void release(Errhandler* handler) noexcept;

}  // namespace tmpi::mpi
