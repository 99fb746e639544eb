// CollectiveCall: what a rank says in a collective call that others must say, too. MPI report, 6.2 and 6.12.
#pragma once

#include <cstdint>
#include <string>

#include "check/function.hpp"
#include "mpi.h"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {

struct CollectiveCall {
  static constexpr MPI_Count kNothing = -1;  ///< not to be compared

  const Function* function = nullptr;
  const void* site = nullptr;
  int rank = 0;  ///< in MPI_COMM_WORLD
  bool compares_root = false;
  int root = 0;
  std::uintptr_t op = 0;                ///< predefined: the handle; 1: user-defined, 0: none
  MPI_Count count = kNothing;           ///< where counts must be equal, not only the amount of data
  MPI_Count bytes = kNothing;           ///< amount of data
  const mpi::Datatype* type = nullptr;  ///< if it is predefined, which types are never freed; else null
};

/// True if two members of a communicator may make these two calls together.
bool matches(const CollectiveCall& a, const CollectiveCall& b) noexcept;

/// True if data of one type may be received as the other: the representation is the same, or one of both says
/// nothing (null, MPI_BYTE, a derived type).
bool same_type(const mpi::Datatype* a, const mpi::Datatype* b) noexcept;

/// In what they differ, as `the root is 1 here and 0 there`; `there` is the first call.
std::string difference(const CollectiveCall& here, const CollectiveCall& there);

}  // namespace tmpi::check
