// The table of the standard's error classes.
#pragma once

#include "mpi.h"

namespace tmpi::mpi {

struct ErrorClass {
  int value;
  const char* name;  ///< "MPI_ERR_TAG"
  const char* text;  ///< "invalid tag"
};

/// Null if the standard has no such class.
const ErrorClass* error_class(int value) noexcept;

}  // namespace tmpi::mpi
