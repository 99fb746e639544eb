// Error handlers: what is done with an error that is raised on a communicator, session, window or file. MPI
// report, 9.3. Used by the rank that made them only. docs/design/errors.md.
#pragma once

#include <cstdint>

#include "mpi.h"
#include "mpi/base/error.hpp"
#include "mpi/base/handle_memory.hpp"

namespace tmpi::mpi {

/// The kinds of objects that errors are raised on.
enum class Raiser : unsigned char { kComm, kSession, kWin, kFile };

struct Errhandler {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kErrhandler, Errhandler)
  static constexpr std::uint32_t kMagic = 0x45484e44;  // "EHND"
  /// A function of the type that belongs to the kind: MPI_Comm_errhandler_function ...
  using Function = void (*)();

  std::uint32_t magic = kMagic;
  MPI_Errhandler predefined = MPI_ERRHANDLER_NULL;  ///< the ABI's constant, if it is one of those
  Raiser kind = Raiser::kComm;                      ///< of a user-defined one; predefined ones fit all
  Function function = nullptr;                      ///< user-defined
  int references = 1;  ///< the user's handles and every object that holds it; used by one rank only
};

/// Null for MPI_ERRHANDLER_NULL and for what is no error handler.
Errhandler* errhandler_from(MPI_Errhandler handle) noexcept;
/// Null (an object's default) is MPI_ERRORS_ARE_FATAL.
MPI_Errhandler handle_of(Errhandler* handler) noexcept;

/// For objects that hold or inherit a handler; both accept null and predefined ones.
void retain(Errhandler* handler) noexcept;
void release(Errhandler* handler) noexcept;

/// An argument that must be an error handler for objects of this kind: MPI_ERR_ERRHANDLER if it is none. The
/// caller takes a reference if it keeps the handler.
Err check_errhandler(MPI_Errhandler handle, Raiser kind, Errhandler*& handler);

/// MPI_X_set_errhandler and MPI_X_get_errhandler on an object's field.
Err set_errhandler(Errhandler*& field, Raiser kind, MPI_Errhandler handle);
Err get_errhandler(Errhandler* field, MPI_Errhandler* handle);

}  // namespace tmpi::mpi
