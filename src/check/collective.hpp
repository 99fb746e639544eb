// CollectiveCall: what a rank says in a collective call on a communicator, window or file that others must say, too.
// MPI report, 6.2 and 6.12; 12.2 and 12.5.1; 14.2, 14.3, 14.4.4, 14.6.1.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "check/function.hpp"
#include "mpi.h"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {

/// An argument that all members must give alike, of functions with Function::agreed.
struct Agreed {
  /// Which one, and how a value of it reads: "The `name` is `readable` here and ... there".
  struct Kind {
    const char* name;
    std::string (*readable)(MPI_Count value);
  };
  const Kind* kind = nullptr;  ///< null: not to be compared
  MPI_Count value = 0;
  bool binding = true;  ///< it must be the same if that is so at one member
};

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
  std::array<Agreed, 2> agreed;         ///< in the order in which they are compared
};

/// True if two members may make these two calls together.
bool matches(const CollectiveCall& a, const CollectiveCall& b) noexcept;

/// True if data of one type may be received as the other: the representation is the same, or one of both says
/// nothing (null, MPI_BYTE, a derived type).
bool same_type(const mpi::Datatype* a, const mpi::Datatype* b) noexcept;

/// In what they differ, as `the root is 1 here and 0 there`; `there` is the first call.
std::string difference(const CollectiveCall& here, const CollectiveCall& there);

}  // namespace tmpi::check
