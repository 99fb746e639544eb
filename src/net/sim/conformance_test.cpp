// The conformance suite on modelled wires: a fast one, and one on which most things are under way for a
// while.
#include "net/conformance.hpp"

#include <doctest/doctest.h>

#include <algorithm>

TEST_CASE("the modelled wire does what every transport does") {
  tmpi::net::conformance::check_conformance({"sim:fdr-ib"});
}

TEST_CASE("a slow wire with random delays does, too") {
  tmpi::net::conformance::check_conformance(
      {.spec = "sim:latency=1ms,bandwidth=4GB/s,overhead=1us,gap=1us,jitter=200us",
       .largest = std::min<std::size_t>(tmpi::net::conformance::kLargest, 4 << 20)});
}

TEST_CASE("a modelled wire's nodes notice a death within a second" * doctest::test_suite("timing")) {
  tmpi::net::conformance::check_death_is_noticed_soon({"sim:fdr-ib"});
}
