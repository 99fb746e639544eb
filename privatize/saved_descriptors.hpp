// The descriptors of a rank that is saved: which file each leads to, how it is open, and where in it; copies that share an
// offset share one again. What is in a file is not saved. docs/design/checkpoint.md.
#pragma once

#include <string>

#include "base/result.hpp"
#include "privatize/packed_state.hpp"

namespace tmpi::privatize {

/// What of the calling rank's descriptors could not be opened again, as the end of a sentence that begins with the rank; empty:
/// nothing.
std::string why_descriptors_not_saved(int rank);

/// Of the calling rank, of whose descriptors nothing is in the way.
void save_descriptors(int rank, StateWriter& to);

/// Opens them for the calling rank, which has none. Failure: which file is not to be had here, and why.
Result<void> open_descriptors_again(int rank, StateReader& from);

}  // namespace tmpi::privatize
