// What an MPI_Info points at, and the info object that says how a rank was started (MPI_INFO_ENV). MPI
// report, chapter 10 and 11.5.3. Nothing here suspends.
#pragma once

#include <vector>

#include "mpi/base/error.hpp"
#include "mpi/base/info.hpp"

namespace tmpi::mpi {

struct Rank;

/// The object behind a handle; null for MPI_INFO_NULL and for what is no info object. MPI_INFO_ENV is an
/// object of the calling rank (empty outside a rank).
Info* info_from(MPI_Info handle) noexcept;
inline MPI_Info handle_of(Info& info) noexcept {
  return reinterpret_cast<MPI_Info>(&info);
}

/// The hints of a call that takes an info argument: for MPI_INFO_NULL an empty object. MPI_ERR_INFO if the
/// handle is none. `hints` is valid during the call.
Err hints_from(MPI_Info handle, const Info*& hints);

/// What MPI_INFO_ENV says: how the calling rank was started (MPI report, 11.5.1).
std::vector<Info::Entry> start_entries(const Rank& rank);

}  // namespace tmpi::mpi
