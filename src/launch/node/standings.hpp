// Standings on the wire: who waits for whom, from all node processes to the one that words the deadlock
// report.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/wire/picture.hpp"
#include "mpi/diagnose/deadlock.hpp"

namespace tmpi::launch {

/// What one node process contributes.
struct NodeStanding {
  std::vector<PictureEntry> picture;
  mpi::Standings standings;
};

std::string pack(const NodeStanding& standing);
Result<NodeStanding> unpack_standing(std::string_view payload);

}  // namespace tmpi::launch
