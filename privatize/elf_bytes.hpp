// The one way to read the tables of an ELF file, whose every number may be wrong: a run of bytes that are
// really there, looked at as an array of records or a string. What does not fit, or is not aligned, is empty or
// null. Views: the memory behind them belongs to somebody else and must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace tmpi::privatize {

using ElfBytes = std::span<const std::byte>;

/// The `size` bytes at `offset`; empty unless all of them are there.
inline ElfBytes part_of(ElfBytes bytes, std::uint64_t offset, std::uint64_t size) noexcept {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

/// What follows `offset`; empty if that lies outside.
inline ElfBytes from(ElfBytes bytes, std::uint64_t offset) noexcept {
  return offset > bytes.size() ? ElfBytes() : bytes.subspan(static_cast<std::size_t>(offset));
}

/// As many records as fit.
template <class Record>
std::span<const Record> records_in(ElfBytes bytes) noexcept {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Record) != 0) return {};
  return {reinterpret_cast<const Record*>(bytes.data()), bytes.size() / sizeof(Record)};
}

/// The first `count` records; empty unless all of them are there.
template <class Record>
std::span<const Record> records_in(ElfBytes bytes, std::uint64_t count) noexcept {
  const auto all = records_in<Record>(bytes);
  return count <= all.size() ? all.first(static_cast<std::size_t>(count)) : std::span<const Record>();
}

/// The record at `offset`, or null.
template <class Record>
const Record* record_at(ElfBytes bytes, std::uint64_t offset) noexcept {
  const auto one = records_in<Record>(part_of(bytes, offset, sizeof(Record)));
  return one.empty() ? nullptr : one.data();
}

/// A string table: names that end in a zero byte, found by their offset.
class ElfStrings {
 public:
  ElfStrings() = default;
  /// Bytes behind the last zero are no string.
  explicit ElfStrings(ElfBytes bytes) noexcept : text_(reinterpret_cast<const char*>(bytes.data())) {
    for (size_ = bytes.size(); size_ > 0 && text_[size_ - 1] != '\0';) --size_;
  }
  /// The string there; "" if there is none.
  const char* at(std::uint64_t offset) const noexcept { return offset < size_ ? text_ + offset : ""; }
  bool has(std::uint64_t offset) const noexcept { return offset < size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  const char* text_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tmpi::privatize
