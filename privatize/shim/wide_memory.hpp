// Streams into wide memory (open_wmemstream) of a rank with a malloc of its own.
#pragma once

#include <stdio.h>

namespace tmpi::shim {

/// `stream` has been flushed: what is in its memory goes where the program looks for it. 0, or EOF without memory.
int wide_memory_flushed(FILE* stream) noexcept;
/// The same when it has been closed.
int wide_memory_closed(FILE* stream) noexcept;

}  // namespace tmpi::shim
