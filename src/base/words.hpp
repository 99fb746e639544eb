// The arguments of a call as an array of 64-bit words, so that one function can read those of all of them:
// integers sign-extended, pointers and handles as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tmpi {

template <class Argument>
std::uint64_t word(Argument argument) noexcept {
  if constexpr (std::is_pointer_v<Argument>)
    return reinterpret_cast<std::uint64_t>(argument);
  else
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(argument));
}

/// Room for the words of `kCount` arguments; of one, if there are none.
template <std::size_t kCount>
using Words = std::array<std::uint64_t, kCount == 0 ? 1 : kCount>;

}  // namespace tmpi
