// Stacks of ranks become one tree.
#include "launch/wire/stacks.hpp"

#include <doctest/doctest.h>

namespace tmpi::launch {
namespace {

StateDump ranks(int first, int count, RankPlace place) {
  StateDump dump;
  for (int i = 0; i < count; ++i) add_rank(dump, first + i, place);
  return dump;
}

const RankPlace kRuns{RankState::kRunning, {}, {}, -1};
const RankPlace kReceives{RankState::kBlocked, "MPI_Recv", "from {}", 0};

TEST_CASE("one tree of what several node processes send") {
  const Stacks first{{{"main (heat.c:9)", "exchange (heat.c:57)"}, ranks(1, 3, kReceives)},
                     {{"main (heat.c:9)", "exchange (heat.c:60)"}, ranks(0, 1, kRuns)}};
  const Stacks second{{{"main (heat.c:9)", "exchange (heat.c:57)"}, ranks(4, 2, kReceives)},
                      {{"main (heat.c:12)"}, ranks(6, 1, kRuns)},
                      {{}, ranks(7, 1, {RankState::kFinished, {}, {}, -1})}};
  Stacks all = unpack_stacks(pack(first));
  const Stacks others = unpack_stacks(pack(second));
  all.insert(all.end(), others.begin(), others.end());
  CHECK(describe_tree(all) ==
        "  rank 7: finished\n"
        "  ranks 0-5 (6): main (heat.c:9)\n"
        "    rank 0: exchange (heat.c:60)\n"
        "      running\n"
        "    ranks 1-5 (5): exchange (heat.c:57)\n"
        "      blocked in MPI_Recv from rank 0\n"
        "  rank 6: main (heat.c:12)\n"
        "    running\n");
}

TEST_CASE("ranks alike do various things at the same place") {
  Stacks stacks{{{"main"}, ranks(0, 2, kRuns)}};
  add_rank(stacks[0].ranks, 2, kReceives);
  CHECK(describe_tree(stacks) ==
        "  ranks 0-2 (3): main\n"
        "    ranks 0-1 (2): running\n"
        "    rank 2: blocked in MPI_Recv from rank 0\n");
}

TEST_CASE("a call that goes on for some is an end for others") {
  const Stacks stacks{{{"main"}, ranks(0, 1, kRuns)}, {{"main", "f"}, ranks(1, 1, kRuns)}};
  CHECK(describe_tree(stacks) ==
        "  ranks 0-1 (2): main\n"
        "    rank 0: running\n"
        "    rank 1: f\n"
        "      running\n");
}

TEST_CASE("long trees are cut") {
  const Stacks stacks{{{"main", "f", "g"}, ranks(0, 1, kRuns)}};
  CHECK(describe_tree(stacks, 2) == "  rank 0: main\n    f\n  ... and 2 lines more\n");
}

TEST_CASE("what is cut short gives what could be read") {
  const Stacks stacks{{{"main"}, ranks(0, 1, kRuns)}, {{"other"}, ranks(1, 1, kRuns)}};
  const std::string bytes = pack(stacks);
  CHECK(unpack_stacks(std::string_view(bytes).substr(0, bytes.size() - 3)).size() == 1);
  CHECK(unpack_stacks("").empty());
  CHECK(any_known(stacks));
  CHECK_FALSE(any_known({{{}, ranks(0, 1, kRuns)}}));
}

}  // namespace
}  // namespace tmpi::launch
