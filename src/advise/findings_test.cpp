#include "advise/findings.hpp"

#include <doctest/doctest.h>

namespace tmpi::advise {
namespace {

// Two cores, 10 s, that compute for `first` and `second` seconds, and idle else.
observe::Profile two_cores(double first, double second, int ranks) {
  observe::Profile profile;
  profile.program = "p";
  profile.hosts = {"a"};
  profile.seconds = 10;
  profile.workers = {
      {.name = "worker 0: core 0", .busy = first, .idle = 10 - first, .computing = first, .ranks = {}},
      {.name = "worker 1: core 1", .busy = second, .idle = 10 - second, .computing = second, .ranks = {}}};
  for (int rank = 0; rank < ranks; ++rank)
    profile.ranks.push_back(
        {.rank = rank, .worker = rank % 2, .wall = 10, .computing = 2 * (rank % 2 ? second : first) / ranks});
  return profile;
}

TEST_CASE("uneven cores are found first, with what they cost") {
  const Findings found = findings_of(two_cores(9, 5, 8));
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[0].title == "Cores compute for different times");
  CHECK(found.all[0].share == doctest::Approx(0.2));
  CHECK(found.all[0].sentence.find("worker 0 computes for 9 s, the mean of all cores is 7 s (1.29 times)") ==
        0);
  CHECK(found.all[0].remedy.find("--balance auto") == 0);
  CHECK(found.all[1].share == doctest::Approx(0.1));
}

TEST_CASE("idle cores are traced to a call site") {
  observe::Profile profile = two_cores(6, 6, 4);
  profile.calls = {{.function = "MPI_Waitall",
                    .site = {.caller = "main", .file = "/x/a.c", .line = 12},
                    .total = {},
                    .ranks = {}}};
  profile.calls[0].total = {.calls = 4, .wall = 7, .waiting = 7, .idle = 6};
  const Findings found = findings_of(profile);
  REQUIRE(found.all.size() == 1);
  CHECK(found.all[0].share == doctest::Approx(0.4));
  CHECK(found.all[0].sentence.find("75 % of all idle time ends in MPI_Waitall (a.c:12 in main)") !=
        std::string::npos);
  CHECK(found.all[0].remedy.find("--vratio") != std::string::npos);
}

TEST_CASE("a job that computes has nothing to mend, and what a profile lacks is said") {
  observe::Profile profile = two_cores(9.9, 9.9, 2);
  profile.ended_early = true;
  const Findings found = findings_of(profile);
  REQUIRE(found.all.size() == 1);
  CHECK(found.all[0].title == "Nothing to mend on the side of MPI");
  CHECK(found.all[0].share == 0);
  REQUIRE(found.doubts.size() == 1);
  CHECK(found.doubts[0].find("the job ended early") == 0);
  CHECK(findings_of({}).all.size() == 1);
}

TEST_CASE("late receives come last: no time is known to be lost by them") {
  observe::Profile profile = two_cores(6, 6, 2);
  for (observe::ProfiledRank& rank : profile.ranks)
    rank.variables = {{"tmpi_messages_unexpected", std::uint64_t{80}},
                      {"tmpi_messages_received", std::uint64_t{100}}};
  const Findings found = findings_of(profile);
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[1].title == "Receives are posted late");
  CHECK(found.all[1].sentence.find("80 % of the messages (160 of 200)") == 0);
}

}  // namespace
}  // namespace tmpi::advise
