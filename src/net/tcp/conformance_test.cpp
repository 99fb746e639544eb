// The conformance suite on tcp over loopback.
#include "net/conformance.hpp"

#include <doctest/doctest.h>

TEST_CASE("tcp over loopback") {
  tmpi::net::conformance::check_conformance({"tcp"});
}
