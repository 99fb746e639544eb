// A rank's objects as programs go through them by the dynamic linker's structures: from _r_debug, DT_DEBUG of the
// program, dlinfo, or a handle of dlopen, which is a link_map. Tools that wrap functions by writing into tables of
// addresses (GOT) find the rank's tables there, and no others. Behind the rank's objects stands one for all that is
// outside of them, functions of MPI, libc and libraries that ranks share: it has symbols and nothing to write to.
//
// Made when a rank first asks, or before it begins if its program refers to _r_debug. Debuggers have a list of their own
// (debugger.hpp).
#pragma once

#include <link.h>

#include "privatize/image_set.hpp"
#include "privatize/rank_state.hpp"

namespace tmpi::privatize {

/// The entry of an object of the rank's; the chain is made, or what the rank has opened since is added. Any thread of the
/// rank. std::bad_alloc: there is no memory.
link_map* link_map_of(RankState& state, const Object& object);

/// True if the set's code looks at _r_debug, or has a place for its address: the chain must be there from the start.
bool looks_at_link_maps(const ImageSet& set);

}  // namespace tmpi::privatize
