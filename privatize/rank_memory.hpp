// The memory of a rank that has a slot (rank_slots.hpp), as it is saved: everything that is mapped in the slot and can be
// written to, page by page as far as anything has been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::privatize {

/// Pages that the rank has mapped itself: to be mapped again.
struct MappedPiece {
  std::uint64_t begin, bytes;
  std::int32_t protection;
};

/// Memory with contents: pages, but for the end of the stack.
struct WrittenRun {
  std::uint64_t begin, bytes;
};

struct RankMemory {
  std::vector<MappedPiece> pieces;
  std::vector<WrittenRun> runs;  ///< in those pieces, in the rank's image, on its stack
};

/// Of the calling rank, whose stack counts from `stack_pointer` on. Failure: a sentence about what cannot be saved (memory
/// that is shared with others). `moment`: the same for ranks that are saved together, none of which runs meanwhile. Does not
/// suspend.
Result<RankMemory> memory_of(int rank, std::uintptr_t stack_pointer, std::uint64_t moment);

/// Maps the piece, empty, for writing.
Result<void> map_piece(const MappedPiece& piece);

/// What the memory refers to, one line per object: where it lies, what it is. Two processes may take each other's ranks if
/// these are the same.
Result<std::string> surroundings_of(int rank);

}  // namespace tmpi::privatize
