// Argument checks that need no object: each returns MPI_SUCCESS or the standard's error class with a sentence
// that says which argument, what value, what would be right. MPI report, 9.4 (error classes). More of them:
// datatype/check.hpp, comm/check.hpp, p2p/checks.hpp.
#pragma once

#include "mpi/base/error.hpp"

namespace tmpi::mpi {

[[gnu::cold]] Err bad_count(MPI_Count count);
[[gnu::cold]] Err null_pointer(const char* argument);
[[gnu::cold]] Err null_buffer(MPI_Count count);

inline Err check_count(MPI_Count count) {
  return count < 0 ? bad_count(count) : kOk;
}
/// An output argument that must not be NULL.
inline Err check_pointer(const void* pointer, const char* argument) {
  return pointer == nullptr ? null_pointer(argument) : kOk;
}

}  // namespace tmpi::mpi
