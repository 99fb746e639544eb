// Enumerations: names of the values that a variable can have, and of the elements of an event (MPI report, 15.3.5). Made
// once, the same for all ranks, never deleted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpi.h"

namespace tmpi::mpi::tool {

struct Enumeration {
  std::string name;
  std::vector<std::pair<int, std::string>> items;  ///< value, name
};

/// Adds one; it stays where it is. While tables are made (controls.cpp, variables.cpp, event_types.cpp).
const Enumeration& add_enumeration(std::string name, std::vector<std::pair<int, std::string>> items);

/// Null for MPI_T_ENUM_NULL and for what is none. Any thread.
const Enumeration* enumeration_from(MPI_T_enum handle) noexcept;
inline MPI_T_enum handle_of(const Enumeration* enumeration) noexcept {
  return reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(enumeration));
}

}  // namespace tmpi::mpi::tool
