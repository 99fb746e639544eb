// How a rank ends.
#pragma once

namespace tmpi::shim {

/// The way out of a rank without any further handler or flush: _exit(2) of the rank, and of a forked child.
[[noreturn]] void leave(int code) noexcept;

}  // namespace tmpi::shim
