// memcpy for what is mostly few bytes, as headers and small messages are: up to 64 without a call, whose two jumps by way of
// the table of another library's functions take longer than the copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

namespace tmpi {

namespace detail {

/// From kBytes to twice as many: the first and the last kBytes, which may have some in common.
template <std::size_t kBytes>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::array<std::byte, kBytes> first, last;
  std::memcpy(first.data(), from, kBytes);
  std::memcpy(last.data(), from + bytes - kBytes, kBytes);
  std::memcpy(to, first.data(), kBytes);
  std::memcpy(to + bytes - kBytes, last.data(), kBytes);
}

}  // namespace detail

/// As memcpy. Of no bytes `to` and `from` may be null.
inline void copy_few(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    detail::copy_ends<32>(target, source, bytes);
  } else if (bytes > 16) {
    detail::copy_ends<16>(target, source, bytes);
  } else if (bytes >= 8) {
    detail::copy_ends<8>(target, source, bytes);
  } else if (bytes >= 4) {
    detail::copy_ends<4>(target, source, bytes);
  } else if (bytes >= 2) {
    detail::copy_ends<2>(target, source, bytes);
  } else if (bytes == 1) {
    *target = *source;
  }
}

}  // namespace tmpi
