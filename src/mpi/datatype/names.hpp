// Names of datatypes (MPI report, 7.8). A derived type carries its own; predefined types are shared by all
// ranks of the process, so a rank that renames one keeps its own name for it aside.
#pragma once

#include <string>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// The name that `rank` (an identity, not looked at) sees. Thread-safe.
std::string name_of(const Datatype& type, const void* rank);
void rename(Datatype& type, const void* rank, std::string name);

}  // namespace tmpi::mpi
