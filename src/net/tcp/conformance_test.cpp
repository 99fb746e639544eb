// The conformance suite on tcp over loopback, IPv4 and IPv6.
#include "net/conformance.hpp"

#include <doctest/doctest.h>

#include "base/sanitized.hpp"
#include "net/tcp/interfaces.hpp"

namespace tmpi::net::tcp {
namespace {

TEST_CASE("tcp over loopback") {
  conformance::check_conformance({"tcp"});
}

TEST_CASE("tcp over loopback, encrypted") {
  conformance::check_conformance({.spec = "tcp:encrypt", .largest = 8 << 20});
}

// Under sanitizers "hosts that have IPv6 only" (namespaces_test.cpp) will do.
TEST_CASE("tcp over loopback, IPv6" * doctest::skip(kSanitized)) {
  const auto all = local_addresses();
  if (!choose_addresses(all, "::1", true)) {
    MESSAGE("skipped: this machine has no ::1");
    return;
  }
  conformance::check_conformance({.spec = "tcp:interface=::1", .largest = 1 << 20});
}

TEST_CASE("tcp notices a death within a second" * doctest::test_suite("timing")) {
  conformance::check_death_is_noticed_soon({"tcp"});
}

}  // namespace
}  // namespace tmpi::net::tcp
