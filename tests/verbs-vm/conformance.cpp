// The conformance suite over verbs on real queue pairs: nodes take turns with the adapters that this machine has.
#include "net/conformance.hpp"

#include <doctest/doctest.h>

namespace tmpi::net::conformance {
namespace {

// An emulated machine moves some 50 MB/s.
constexpr std::size_t kLargestEmulated = 1 << 20;

TEST_CASE("verbs does what every transport does") {
  check_conformance({.spec = "verbs", .largest = kLargestEmulated});
}

TEST_CASE("verbs notices a death within a second" * doctest::test_suite("timing")) {
  check_death_is_noticed_soon({.spec = "verbs", .largest = kLargestEmulated});
}

}  // namespace
}  // namespace tmpi::net::conformance
