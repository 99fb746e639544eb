// Hints of communicators: what a program promises or asks for with MPI_Comm_set_info. MPI report, 7.4.4.
// Those of the report are kept and handed out again; none changes what tmpi does, which an implementation is
// free to decide. Ours: "mpix_balance_step" (docs/design/load-balance.md). Each rank its own; nothing suspends.
#pragma once

#include <vector>

#include "mpi/base/info.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// Takes over those hints of `info` that are known and have a value that makes sense; the rest is ignored.
void set_hints(Comm& comm, const Info& info);

/// Every known hint with its present value (MPI_Comm_get_info).
std::vector<Info::Entry> hints_in_use(const Comm& comm);

/// Where all its members meet a step of the program ends, unless "mpix_balance_step" is false.
bool ends_steps(const Comm& comm) noexcept;

}  // namespace tmpi::mpi
