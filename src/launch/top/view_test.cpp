// What tmpi-top shows.
#include "launch/top/view.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "launch/wire/state_dump.hpp"

namespace tmpi::launch {
namespace {

NodeFigures node(std::int64_t time, std::int64_t switches, std::vector<WorkerFigures> workers) {
  return {"vm", 17, time, switches, 1'500'000, std::move(workers)};
}

JobFigures job(std::vector<NodeFigures> nodes) {
  StateDump dump;
  add_rank(dump, 0, {RankState::kRunning, {}, {}, -1});
  for (int rank = 1; rank < 4; ++rank) add_rank(dump, rank, {RankState::kBlocked, "MPI_Recv", "from {}", 0});
  return {"/home/me/heat", std::move(nodes), pack(dump)};
}

TEST_CASE("rates are those between two answers") {
  const JobFigures before = job({node(0, 0, {{0, 0}, {0, 0}})});
  const JobFigures now = job({node(2'000'000'000, 50'000, {{1'990'000'000, 2}, {500'000'000, 0}})});
  CHECK(view(4711, before, now, {}) ==
        "job 4711: heat, 4 ranks on 1 node\n"
        "ranks: 1 running, 3 blocked\n"
        "node vm (process 17): 2 workers, 62 % busy, 25.0k switches/s, 2 ranks ready, 1.5MB resident\n"
        "  busy, % (  0-1  ): 100  25\n"
        "\n"
        "  rank 0: running\n"
        "  ranks 1-3 (3): blocked in MPI_Recv from rank 0\n");
}

TEST_CASE("without a second answer, or with other workers, there are no rates") {
  const JobFigures now = job({node(2'000'000'000, 50'000, {{1'990'000'000, 2}, {500'000'000, 0}})});
  const std::string wanted = "node vm (process 17): 2 workers, 2 ranks ready, 1.5MB resident\n";
  CHECK(view(1, now, now, {}).find(wanted) != std::string::npos);
  CHECK(view(1, job({}), now, {}).find(wanted) != std::string::npos);
  CHECK(view(1, job({node(0, 0, {})}), now, {}).find(wanted) != std::string::npos);
}

TEST_CASE("it fits into the terminal, and says what is left out") {
  const JobFigures now = job({node(0, 0, {})});
  const std::string text = view(1, now, now, {4, 20});
  CHECK(std::ranges::count(text, '\n') == 4);
  CHECK(text.find("job 1: heat, 4 ranks\n") == 0);
  CHECK(text.find("  and 3 more lines (\n") != std::string::npos);
}

TEST_CASE("a job whose ranks have not started") {
  const std::string text = view(1, {}, {"a", {}, {}}, {});
  CHECK(text == "job 1: a, 0 ranks on 0 nodes\nranks: none has started yet\n\n");
}

}  // namespace
}  // namespace tmpi::launch
