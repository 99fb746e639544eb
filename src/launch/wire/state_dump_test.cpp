#include "launch/wire/state_dump.hpp"

#include <doctest/doctest.h>

#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {
namespace {

TEST_CASE("alike ranks are one line") {
  StateDump dump;
  for (int rank = 0; rank < 100; ++rank) {
    if (rank == 50) {
      add_rank(dump, rank, {RankState::kRunning});
    } else {
      add_rank(dump, rank, {RankState::kBlocked, "MPI_Recv"});
    }
  }
  CHECK(dump.size() == 3);
  const StateDump copy = unpack_state_dump(pack(dump));
  CHECK(describe(copy) == "  rank 50: running\n  ranks 0-49,51-99 (99): blocked in MPI_Recv\n");
}

TEST_CASE("a cut dump is read as far as it goes") {
  StateDump dump;
  add_rank(dump, 0, {RankState::kBlocked, "MPI_Barrier", "on MPI_COMM_WORLD"});
  const std::string bytes = pack(dump);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK(unpack_state_dump(std::string_view(bytes).substr(0, length)).size() <= 1);
  }
}

TEST_CASE("peers: the same for all, at the same distance, or various") {
  const std::string detail = "from {} with tag 7 on MPI_COMM_WORLD";
  const auto lines = [&](auto&& peer_of, int ranks) {
    StateDump dump;
    for (int rank = 0; rank < ranks; ++rank)
      add_rank(dump, rank, {RankState::kBlocked, "MPI_Recv", detail, peer_of(rank)});
    return describe(unpack_state_dump(pack(dump)));
  };
  CHECK(lines([](int) { return 9; }, 3) ==
        "  ranks 0-2 (3): blocked in MPI_Recv from rank 9 with tag 7 on MPI_COMM_WORLD\n");
  CHECK(lines([](int rank) { return rank + 1; }, 3) ==
        "  ranks 0-2 (3): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD\n");
  CHECK(lines([](int rank) { return rank + 1; }, 1) ==
        "  rank 0: blocked in MPI_Recv from rank 1 with tag 7 on MPI_COMM_WORLD\n");
  CHECK(lines([](int rank) { return (rank + 1) % 8; }, 8) ==
        "  rank 7: blocked in MPI_Recv from rank 0 with tag 7 on MPI_COMM_WORLD\n"
        "  ranks 0-6 (7): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD\n");
  CHECK(lines([](int rank) { return rank ^ 1; }, 6) ==
        "  ranks 1,3,5 (3): blocked in MPI_Recv from its rank - 1 with tag 7 on MPI_COMM_WORLD\n"
        "  ranks 0,2,4 (3): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD\n");
  CHECK(lines([](int rank) { return rank * rank % 11; }, 11) ==
        "  ranks 0-10 (11): blocked in MPI_Recv from one of ranks 0-1,3-5,9 with tag 7 on MPI_COMM_WORLD\n");
}

TEST_CASE("rank ranges") {
  CHECK(rank_ranges({}) == "no ranks");
  CHECK(rank_ranges({{3, 1}}) == "rank 3");
  CHECK(rank_ranges({{0, 2}, {2, 1}, {5, 1}}) == "ranks 0-2,5");
  std::vector<std::pair<int, int>> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(2 * i, 1);
  CHECK(rank_ranges(many).ends_with(",..."));
}

}  // namespace
}  // namespace tmpi::launch
