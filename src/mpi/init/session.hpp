// Session: a handle on MPI that does not need MPI_Init. MPI report, 11.3. Belongs to the rank that opened it;
// what MPI is as long as one is open is in lifetime.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi.h"
#include "mpi/base/errhandler.hpp"
#include "mpi/base/info.hpp"

namespace tmpi::mpi {

struct Session {
  static constexpr std::uint32_t kMagic = 0x53455353;  // "SESS"
  std::uint32_t magic = kMagic;
  Errhandler* errhandler = nullptr;  ///< null: MPI_ERRORS_ARE_FATAL
  int thread_level = MPI_THREAD_SINGLE;
};

/// Null for MPI_SESSION_NULL and for what is no session.
Session* session_from(MPI_Session handle) noexcept;
inline MPI_Session handle_of(Session& session) noexcept {
  return reinterpret_cast<MPI_Session>(&session);
}

/// The thread level that the hints of MPI_Session_init ask for; `otherwise` if they do not.
/// MPI_ERR_INFO_VALUE for a level that does not exist.
Err requested_thread_level(const Info& hints, int otherwise, int& level);

/// What MPI_Session_get_info says.
std::vector<Info::Entry> hints_in_use(const Session& session);

}  // namespace tmpi::mpi
