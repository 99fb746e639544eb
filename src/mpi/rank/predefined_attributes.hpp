// The attributes that MPI itself sets on communicators: MPI_TAG_UB and its like. MPI report, 9.1.2 and
// 11.10.1.
#pragma once

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

bool predefined_key(int keyval) noexcept;

/// What MPI_Comm_get_attr gives for a predefined key: a pointer that is valid until the rank ends; null if
/// the attribute is not set. The number behind MPI_LASTUSEDCODE follows MPI_Add_error_class.
const int* predefined_attribute(Rank& rank, int keyval);

}  // namespace tmpi::mpi
