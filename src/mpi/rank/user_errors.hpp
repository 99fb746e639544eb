// The error classes and codes of a rank (base/user_errors.hpp).
#pragma once

#include "mpi/base/user_errors.hpp"

namespace tmpi::mpi {

struct Rank;

/// Those of a rank, made with the first call.
UserErrors& user_errors(Rank& rank);

}  // namespace tmpi::mpi
