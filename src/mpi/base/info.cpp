#include "mpi/base/info.hpp"

#include <algorithm>

namespace tmpi::mpi {

const std::string* Info::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  return found == entries_.end() ? nullptr : &found->second;
}

bool Info::is_true(std::string_view key) const noexcept {
  const std::string* const value = find(key);
  return value != nullptr && *value == "true";
}

void Info::set(std::string_view key, std::string_view value) {
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  if (found != entries_.end()) {
    found->second = value;
  } else {
    entries_.emplace_back(key, value);
  }
}

bool Info::erase(std::string_view key) {
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  if (found == entries_.end()) return false;
  entries_.erase(found);
  return true;
}

}  // namespace tmpi::mpi
