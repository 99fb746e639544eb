// The C++ standard streams of the rank.
#pragma once

namespace tmpi::shim {

/// Constructs std::cout and its kin now if programs built with this compiler's headers do not ask for it
/// themselves; otherwise the first std::ios_base::Init of the image does, and a C program never pays for
/// them.
void start_iostreams() noexcept;

}  // namespace tmpi::shim
