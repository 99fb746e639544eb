// Whole programs under the loader: every rank checks from the inside that nothing of another rank shows.
#include <doctest/doctest.h>

#include "tests/privatize/harness.hpp"

using namespace tmpi::test;

namespace {

Outcome run_clean(const RunOptions& options) {
  Outcome outcome = run(options);
  INFO(options.program);
  CHECK(outcome.error == "");
  std::string failures;
  for (std::size_t i = 0; i < outcome.failures.size() && i < 10; ++i) failures += outcome.failures[i] + "\n";
  CHECK(failures == "");
  return outcome;
}

}  // namespace

TEST_CASE("C data: 100 ranks, each with its own") {
  const Outcome outcome = run_clean({.program = program("globals"), .ranks = 100, .arguments = {"argument"}});
  REQUIRE(outcome.codes.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(outcome.codes[static_cast<std::size_t>(i)] == i);
  CHECK(outcome.counts.at("atexit") == 100);
  CHECK(outcome.counts.at("destructor") == 100);
}
