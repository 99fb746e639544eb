#include "report/page.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/matrix.hpp"
#include "report/over_time.hpp"
#include "report/page_data.hpp"

namespace tmpi::report {
namespace {

using nlohmann::json;
using observe::Profile;

// Everybody sends to the `degree` ranks behind it; two cores for each of `nodes` node processes.
Profile halo(int ranks, int degree, int nodes) {
  Profile profile;
  profile.program = "halo</script>";
  profile.seconds = 2;
  for (int node = 0; node < nodes; ++node) {
    profile.hosts.push_back(fmt::format("host{}", node));
    for (int i = 0; i < 2; ++i) {
      observe::ProfiledWorker worker{.name = fmt::format("node {} worker {}: core {}", node, i, i),
                                     .busy = 1.5,
                                     .idle = 0.5,
                                     .computing = 1,
                                     .mpi = 0.25,
                                     .ranks = {}};
      worker.over_time = {.width = i == 0 ? 0.5 : 1.0, .computing = {}, .mpi = {}};
      worker.over_time.computing.assign(i == 0 ? 4 : 2, 0.25);
      worker.over_time.mpi.assign(i == 0 ? 4 : 2, 0.125);
      profile.workers.push_back(worker);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    observe::ProfiledRank one{
        .rank = rank, .worker = rank * 2 * nodes / ranks, .wall = 2, .computing = 1.0 / 3};
    for (int i = 1; i <= degree; ++i) one.traffic.peers.push_back((rank + i) % ranks);
    std::ranges::sort(one.traffic.peers);
    one.traffic.sent = {std::vector<std::uint64_t>(static_cast<std::size_t>(degree), 2),
                        std::vector<std::uint64_t>(static_cast<std::size_t>(degree), 100)};
    profile.ranks.push_back(one);
  }
  profile.processes = {{.node = 0, .variables = {}, .sizes = {{"eager", {{0, 3}, {0, 4}}}}},
                       {.node = 1, .variables = {}, .sizes = {{"eager", {{1}, {0}}}}}};
  return profile;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t all = 0;
  for (const std::uint64_t value : values) all += value;
  return all;
}

TEST_CASE("a matrix of ranks has all messages, in blocks where ranks are many") {
  for (const int ranks : {2, 64, 3000, 10000}) {
    const Matrix matrix = matrix_of_ranks(halo(ranks, ranks > 2 ? 26 : 1, 1));
    CHECK(matrix.items == ranks);
    CHECK(matrix.from.size() <= 40000);
    CHECK((matrix.block == 1) == (ranks <= 64));
    CHECK(sum(matrix.sent.messages) == static_cast<std::uint64_t>(ranks) * (ranks > 2 ? 26 : 1) * 2);
    CHECK(sum(matrix.sent.bytes) == 50 * sum(matrix.sent.messages));
  }
}

TEST_CASE("a matrix of nodes adds up its ranks") {
  const Matrix matrix = matrix_of_nodes(halo(8, 1, 2));
  CHECK(matrix.items == 2);
  CHECK(matrix.from == std::vector{0, 0, 1, 1});
  CHECK(matrix.sent.messages == std::vector<std::uint64_t>{6, 2, 2, 6});
}

TEST_CASE("cores' bins of different widths are added in the widest") {
  const observe::ProfiledBins all = cores_over_time(halo(4, 1, 1));
  CHECK(all.width == 1);
  CHECK(all.computing == std::vector{0.75, 0.75});
  CHECK(all.mpi == std::vector{0.375, 0.375});
}

TEST_CASE("a page's figures are the profile's") {
  Profile profile = halo(8, 2, 2);
  observe::ProfiledCall call{
      .function = "MPI_Wait", .site = {.file = "a.c", .line = 7}, .total = {}, .ranks = {}};
  call.total = {.calls = 80, .bytes = 0, .wall = 1.0 / 3, .waiting = 0.25, .idle = 0.125, .longest = 0.1};
  for (int rank = 0; rank < 8; ++rank) call.ranks.push_back({rank, {.calls = 10, .wall = 1.0 / 24}});
  profile.calls = {call};
  const Shown shown[] = {{"a.json", &profile}};
  const json data = json::parse(page_data(shown))[0];
  CHECK(data["seconds"] == 2);
  CHECK(data["calls"][0]["wall"] == 1.0 / 3);
  CHECK(data["calls"][0]["where"] == "a.c:7");
  CHECK(data["calls"][0]["ranks"]["calls"] == 10);  // the same for all: one number
  CHECK(data["ranks"]["computing"] == 0.33333);
  CHECK(data["sizes"]["eager"]["messages"] == json::array({1, 3}));
  CHECK(data["matrix"]["ranks"]["from"].size() == 16);
  CHECK(data["matrix"]["nodes"]["items"] == 2);
  CHECK_FALSE(data["findings"]["all"].empty());
}

TEST_CASE("what a profile holds cannot end the page's script") {
  const Profile profile = halo(2, 1, 1);
  const Shown shown[] = {{"", &profile}};
  const Result<std::string> page = make_page(shown);
  CHECK(bool(page) == bool(can_make_page()));
  if (page) {
    CHECK(page->find("halo</script>") == std::string::npos);
    CHECK(page->find("halo\\u003c/script>") != std::string::npos);
    CHECK(page->find("Mike Bostock") != std::string::npos);
  } else {
    CHECK(page.message().find("built without d3") != std::string::npos);
  }
}

TEST_CASE("a page of many ranks stays small") {
  Profile profile = halo(1000, 26, 4);
  for (int site = 0; site < 20; ++site) {
    observe::ProfiledCall call{
        .function = "MPI_Wait", .site = {.file = "a.c", .line = site}, .total = {}, .ranks = {}};
    for (int rank = 0; rank < 1000; ++rank)
      call.ranks.push_back({rank, {.calls = 10, .wall = 1.0 / (3 + rank), .waiting = 1.0 / (7 + rank)}});
    profile.calls.push_back(call);
  }
  const Shown shown[] = {{"", &profile}};
  CHECK(page_data(shown).size() < 2'000'000);
}

}  // namespace
}  // namespace tmpi::report
