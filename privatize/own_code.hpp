// Whether a rank that has been interrupted is in its own code.
#pragma once

namespace tmpi::privatize {

/// The calling thread's rank, interrupted where `context` (a handler's third argument) says, is in code of its program or
/// of its private libraries, and nothing but such code has called that, from main on: so it holds no lock of the
/// runtime's, of libc's or of another library that ranks share, unless it has asked for one by name (flockfile). False if
/// the stack cannot be followed. In the handler, on the rank's own stack; async-signal-safe.
bool is_in_own_code(const void* context) noexcept;

}  // namespace tmpi::privatize
