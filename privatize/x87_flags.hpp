// The exceptions that the x87 unit has noted for a rank: its arithmetic is that of `long double`. A switch saves
// the control words and SSE's flags by itself (ult/switch.hpp); these take another instruction or two, so only
// in jobs where some image handles flags at all.
#pragma once

namespace tmpi::privatize {

class SymbolTable;

/// The object is part of an image: if it refers to <fenv.h>'s flags, or to Fortran's, switches keep them from here on.
void watch_x87_flags(const SymbolTable& symbols) noexcept;

/// The calling worker's thread goes from one rank to another (-1: none). Does not suspend or throw.
void switch_x87_flags(int from, int to) noexcept;

}  // namespace tmpi::privatize
