// What the loader and the shim keep of a rank outside of its slot, as data: saved with its memory, and put in force where it
// is revived (rank_memory.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::privatize {

/// Why the calling rank cannot be saved now, as the end of a sentence that begins with "it": of what belongs to its
/// process, and would be missing in another. Empty: it can. On its own flow; does not suspend.
std::string why_not_saved(int rank);

/// Of the calling rank, on its own flow.
std::vector<std::byte> saved_state(int rank);

/// The function of this name in the rank's image; null: there is none.
const void* function_of(int rank, const char* name) noexcept;

/// What the memory of the calling rank has become is that of the rank of which `state` is. On its own flow, before its
/// program goes on. Failure: what of it is not to be had here.
Result<void> take_saved_state(int rank, std::span<const std::byte> state);

}  // namespace tmpi::privatize
