#include "observe/site_table.hpp"

#include <doctest/doctest.h>

#include <map>

namespace tmpi::observe {
namespace {

TEST_CASE("sites are found again, however many there are") {
  SiteTable table;
  int none = 0;
  table.for_each([&](const Site&) { ++none; });
  CHECK(none == 0);
  std::map<std::pair<std::uint64_t, std::uint16_t>, std::uint64_t> expected;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      const std::uint64_t address = 0x7f0000400000 + i * 8;
      const auto function = static_cast<std::uint16_t>(i % 3);
      table.find(address, function).calls += i;
      expected[{address, function}] += i;
    }
  }
  table.for_each([&](const Site& site) {
    CHECK(expected[{site.address, site.function}] == site.calls);
    expected.erase({site.address, site.function});
  });
  CHECK(expected.empty());
}

TEST_CASE("one address, two functions") {
  SiteTable table;
  table.find(0x1000, 1).calls = 5;
  CHECK(table.find(0x1000, 2).calls == 0);
  CHECK(table.find(0x1000, 1).calls == 5);
}

}  // namespace
}  // namespace tmpi::observe
