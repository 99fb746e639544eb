// Handles: the ABI's predefined ones are small constants, every other handle is the address of an object.
#pragma once

#include <cstdint>

namespace tmpi::mpi {

/// The standard ABI's constants are below this: in the first page, where no object lies.
inline constexpr std::uintptr_t kPredefinedHandles = 4096;

/// True for a handle that is one of the ABI's constants, whether it means an object or not.
template <class Handle>
constexpr bool is_predefined(Handle* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) < kPredefinedHandles;
}

}  // namespace tmpi::mpi
