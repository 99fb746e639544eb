#include "launch/wire/fields.hpp"

#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

namespace tmpi::launch {

struct Inner {
  bool flag = false;
  std::string text;
  friend bool operator==(const Inner&, const Inner&) = default;
};

enum class Kind : unsigned char { kFirst, kSecond };

struct Outer {
  int number = 0;
  std::uint64_t large = 0;
  Kind kind = Kind::kFirst;
  std::vector<Inner> inner;
  std::vector<std::pair<int, std::string>> pairs;
  std::map<int, std::vector<int>> map;
  friend bool operator==(const Outer&, const Outer&) = default;
};

void fields(auto& archive, Of<Inner> auto& inner) {
  archive(inner.flag, inner.text);
}

void fields(auto& archive, Of<Outer> auto& outer) {
  archive(outer.number, outer.large, outer.kind, outer.inner, outer.pairs, outer.map);
}

namespace {

TEST_CASE("one list of fields writes and reads; what is cut short or has more is refused") {
  const Outer outer{-7,
                    ~std::uint64_t{0},
                    Kind::kSecond,
                    {{true, "one"}, {false, std::string("a\0b", 3)}},
                    {{-1, "all"}, {3, ""}},
                    {{5, {1, 2, 3}}, {9, {}}}};
  const std::string bytes = packed(outer);
  const Result<Outer> back = unpacked<Outer>(bytes, "cut short");
  REQUIRE(back);
  CHECK(*back == outer);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(unpacked<Outer>(std::string_view(bytes).substr(0, length), "cut short"));
  CHECK(unpacked<Outer>(bytes + "x", "too long").failure().message == "too long");
}

TEST_CASE("a number that its field cannot hold is refused") {
  Packer packer;
  packer.number(std::int64_t{1} << 32);
  CHECK(unpacked<std::int64_t>(packer.bytes(), "nonsense"));
  CHECK_FALSE(unpacked<int>(packer.bytes(), "nonsense"));
  CHECK_FALSE(unpacked<Kind>(packer.bytes(), "nonsense"));
}

TEST_CASE("the number of items is bounded by the bytes that are there") {
  Packer packer;
  packer.number(std::int64_t{1} << 60);
  packer.number(1);
  CHECK_FALSE(unpacked<std::vector<int>>(packer.bytes(), "nonsense"));
}

}  // namespace
}  // namespace tmpi::launch
