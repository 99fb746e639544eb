// What ranks find outside of their images (MPI, libc, libraries that they share), as one object with a table of symbols
// and nothing else: for tools that search the dynamic linker's structures. Each name has the address that a rank's code
// is bound to.
#pragma once

#include <link.h>

#include "privatize/scope.hpp"

namespace tmpi::privatize {

/// Made once per process, of the first scope that asks. Any thread. Its l_prev is null, since all ranks have it.
link_map* outside_symbols(const Scope& scope);

}  // namespace tmpi::privatize
