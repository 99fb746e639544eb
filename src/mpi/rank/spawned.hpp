// What the node processes are told of a spawned world beside the programs to be run, as bytes that the launcher carries
// from the rank that spawns to all of them. docs/design/dynamic-processes.md.
#pragma once

#include <string>
#include <string_view>

#include "mpi/rank/world.hpp"

namespace tmpi::mpi {

/// Context ids and parents.
std::string pack_link(const World& world);
/// Into a world that has nothing of it yet. False: cut short, or garbage.
bool unpack_link(std::string_view bytes, World& world);

}  // namespace tmpi::mpi
