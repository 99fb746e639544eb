// What is saved of a rank, as bytes: values one after the other, and read again in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tmpi::privatize {

class StateWriter {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
  void text(const std::string& text) {
    value(text.size());
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), first, first + text.size());
  }
  std::vector<std::byte> bytes;
};

/// Behind the end there are zeros.
class StateReader {
 public:
  explicit StateReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
  template <class T>
  T value() noexcept {
    T value{};
    if (rest_.size() < sizeof value) return value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = std::min(value<std::size_t>(), rest_.size());
    std::string text(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return text;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tmpi::privatize
