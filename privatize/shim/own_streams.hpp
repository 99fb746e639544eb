// Streams of fopen in the memory of a rank that is saved (docs/design/checkpoint.md): libc's own objects, with a buffer, moved
// to where the rank's allocator has room. libc's functions work on them as on any; only closing is done here, as libc would
// give the memory to its own heap. Other ranks have libc's streams as they are.
#pragma once

#include <stdio.h>

namespace tmpi::shim {

/// `made`, which libc has just opened, in the rank's memory; `made` itself if ranks are not saved, it is a terminal, there is
/// no memory, or this libc lays streams out otherwise. Null: null.
FILE* in_rank_memory(FILE* made) noexcept;
/// The same, with a descriptor of which the program does not know the number yet.
FILE* in_rank_memory_anew(FILE* made) noexcept;

/// In the rank's memory by these.
bool is_in_rank_memory(const FILE* file) noexcept;

/// fclose of such a one.
int close_in_rank_memory(FILE* file) noexcept;

/// What libc's freopen does before it opens a file: it keeps `file` as a place for fill_in_rank_memory.
void empty_in_rank_memory(FILE* file) noexcept;
/// `made` instead of what was there; null: `file` is gone. Returns where it is.
FILE* fill_in_rank_memory(FILE* file, FILE* made) noexcept;

/// Why such a stream cannot be saved as it is now, as the end of a sentence about the rank; null: it can.
const char* why_stream_not_saved(FILE* file) noexcept;

}  // namespace tmpi::shim
