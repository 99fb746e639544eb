// Large blocks: which of the memory that ranks have allocated is whose, as far as it comes in large pieces, so that it
// can follow a rank to another NUMA node (docs/design/load-balance.md). The heap is one for all ranks of a process; what is
// smaller shares its pages with others' and stays.
//
// Images then bind malloc and its relatives and mmap to functions of the loader that write large pieces down. What shared
// libraries allocate for a rank, and what a program's own malloc does, is not seen.
#pragma once

#include <cstddef>

namespace tmpi::privatize {

/// Of a block, at least.
inline constexpr std::size_t kLargeBlock = std::size_t{256} << 10;

/// From now on; before any Group is loaded.
void note_large_blocks() noexcept;

/// The loader's version of function `name`; null: it has none, or nothing is to be noted.
const void* block_function(const char* name) noexcept;

/// Calls use(context, begin, bytes) for all memory that is world rank `rank`'s alone and is known to be: the writable
/// parts of its images and its large blocks; whole pages. Does not suspend. Any thread; `use` must not allocate or
/// free by the rank's functions.
void for_each_memory_of(int rank, void (*use)(void* context, void* begin, std::size_t bytes) noexcept,
                        void* context) noexcept;

}  // namespace tmpi::privatize
