// The hint mpi_minimum_memory_alignment of memory that MPI allocates (MPI report, 9.2 and 12.2.2).
#pragma once

#include <cstddef>

#include "mpi/base/info.hpp"

namespace tmpi::mpi {

/// Bytes to which memory is to be aligned, at least `otherwise`. A value that is no power of two, or more than 1 GiB, is
/// passed over, as hints are that make no sense.
std::size_t memory_alignment(const Info& hints, std::size_t otherwise) noexcept;

}  // namespace tmpi::mpi
