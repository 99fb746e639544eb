// What crosses the control channel says its fields once, in order; the same list writes and reads them:
//
//   void fields(auto& archive, Of<WayEnding> auto& ending) { archive(ending.index, ending.why); }
//
//   std::string payload = packed(ending);
//   Result<WayEnding> ending = unpacked<WayEnding>(payload, "what the user reads if it is cut short");
//
// A field is a number, an enumerator, a text, a container of fields, a pair, or something that has fields() itself.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

/// `Record` to be read into, or a constant one to be written.
template <class T, class Record>
concept Of = std::same_as<std::remove_const_t<T>, Record>;

template <class T>
concept NumberField = std::integral<T> || std::is_enum_v<T>;

template <class T>
concept PairField = requires(T value) {
  value.first;
  value.second;
};

class FieldWriter {
 public:
  explicit FieldWriter(Packer& packer) : packer_(packer) {}
  void operator()(const auto&... values) { (put(values), ...); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (NumberField<T>) {
      packer_.number(static_cast<std::int64_t>(value));
    } else if constexpr (std::same_as<T, std::string>) {
      packer_.text(value);
    } else if constexpr (PairField<T>) {
      (*this)(value.first, value.second);
    } else if constexpr (std::ranges::range<T>) {
      packer_.number(static_cast<std::int64_t>(value.size()));
      for (const auto& item : value) put(item);
    } else {
      fields(*this, value);
    }
  }

  Packer& packer_;
};

/// A number that its field cannot hold makes the unpacker not ok, as the end of the bytes does.
class FieldReader {
 public:
  explicit FieldReader(Unpacker& unpacker) : unpacker_(unpacker) {}
  void operator()(auto&... values) { (take(values), ...); }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (std::same_as<T, bool>) {
      value = unpacker_.number() != 0;
    } else if constexpr (std::is_enum_v<T>) {
      auto number = static_cast<std::underlying_type_t<T>>(value);
      take(number);
      value = static_cast<T>(number);
    } else if constexpr (std::integral<T>) {
      const std::int64_t number = unpacker_.number();
      value = static_cast<T>(number);
      if (static_cast<std::int64_t>(value) != number) unpacker_.refuse();
    } else if constexpr (std::same_as<T, std::string>) {
      value = unpacker_.text();
    } else if constexpr (PairField<T>) {
      (*this)(value.first, value.second);
    } else if constexpr (std::ranges::range<T>) {
      take_items(value);
    } else {
      fields(*this, value);
    }
  }

  template <class List>
  void take_items(List& list) {
    list.clear();
    for (std::int64_t left = unpacker_.number(); left > 0 && unpacker_.ok(); --left) {
      if constexpr (requires { typename List::mapped_type; }) {
        typename List::key_type key{};
        take(key);
        take(list[key]);
      } else {
        take(list.emplace_back());
      }
    }
  }

  Unpacker& unpacker_;
};

template <class Record>
std::string packed(const Record& record) {
  Packer packer;
  FieldWriter{packer}(record);
  return packer.take();
}

/// Failure, with the sentence: the payload is shorter or longer than the fields, or a number does not fit its own.
template <class Record>
Result<Record> unpacked(std::string_view payload, const char* sentence) {
  Unpacker unpacker(payload);
  Record record;
  FieldReader{unpacker}(record);
  if (!unpacker.whole()) return Failure{sentence};
  return record;
}

}  // namespace tmpi::launch
