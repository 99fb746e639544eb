// The functions of libc that must know ranks and images: code in an image binds to ours instead of libc's.
#pragma once

namespace tmpi::privatize {

/// Address of the loader's own version of libc's function `name`, or null.
const void* runtime_function(const char* name) noexcept;

/// Of those, what only versions of glibc later than that of libc_state.txt have.
const void* later_function(const char* name) noexcept;

/// What substitute_functions() (loader.hpp) has been told, or null.
const void* substituted_function(const char* name) noexcept;

}  // namespace tmpi::privatize
