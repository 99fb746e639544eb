// Whose exception nobody has caught: the program's, or one of tmpi that ought to have been caught on the way.
#pragma once

namespace tmpi::privatize {

/// In a terminate handler: true if the function that threw, or let an exception out of a noexcept function, is
/// tmpi's (the node process's executable or the shim's), false if it is the program's. Allocates nothing.
bool thrown_by_tmpi() noexcept;

}  // namespace tmpi::privatize
