// The locale of a rank. libc's functions read that of the thread (uselocale); the thread of a worker takes on the one of
// the rank that it runs, once some rank has chosen another than "C". docs/reference/libc-state.md.
#pragma once

namespace tmpi::privatize {

/// The calling worker's thread takes on what the rank has in force; -1: what the process has. Does not suspend, throw or
/// allocate.
void enter_locale(int rank) noexcept;

/// The calling thread, which the rank has just made, begins with what the rank has chosen by setlocale.
void start_in_locale(int rank) noexcept;

/// The rank leaves its program.
void forget_locale(int rank) noexcept;

}  // namespace tmpi::privatize
