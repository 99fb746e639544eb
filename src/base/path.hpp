// The parts of a path, as text.
#pragma once

#include <string>
#include <string_view>

namespace tmpi {

/// What is behind the last slash; without one, all of it.
constexpr std::string_view file_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

/// What is before it; of a name alone, the current directory.
inline std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

}  // namespace tmpi
