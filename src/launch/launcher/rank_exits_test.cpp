#include "launch/launcher/rank_exits.hpp"

#include <doctest/doctest.h>

namespace tmpi::launch {
namespace {

const std::vector<int> kTwoNodes{0, 0, 1, 1};

TEST_CASE("the first rank with a non-zero code counts") {
  RankExits exits(kTwoNodes);
  CHECK(exits.failed().ranks == 0);
  exits.ended(0, 0, true);
  exits.ended(3, 17, true);
  exits.ended(1, 4, true);
  CHECK(exits.failed().ranks == 2);
  CHECK(exits.failed().first == 3);
  CHECK(exits.failed().code == 17);
}

TEST_CASE("who has not ended") {
  RankExits exits(kTwoNodes);
  CHECK(exits.unfinished_on(1) == "ranks 2-3");
  exits.ended(2, 0, true);
  CHECK(exits.unfinished_on(1) == "rank 3");
  exits.ended(3, 0, true);
  CHECK(exits.unfinished_on(1) == "no ranks");
  CHECK(exits.unfinished_on(0) == "ranks 0-1");
}

TEST_CASE("a rank may leave without MPI_Init unless ranks of another node process use MPI") {
  RankExits exits(kTwoNodes);
  exits.ended(0, 0, false);
  CHECK_FALSE(exits.broken_rule());
  exits.uses_mpi(0);  // that node process sees to it itself
  CHECK_FALSE(exits.broken_rule());
  exits.uses_mpi(1);
  REQUIRE(exits.broken_rule());
  CHECK(exits.broken_rule()->rank == 0);

  RankExits other_order(kTwoNodes);
  other_order.uses_mpi(0);
  other_order.ended(1, 3, true);
  CHECK_FALSE(other_order.broken_rule());
  other_order.ended(2, 5, false);
  other_order.ended(3, 6, false);
  REQUIRE(other_order.broken_rule());
  CHECK(other_order.broken_rule()->rank == 2);
  CHECK(other_order.broken_rule()->code == 5);
}

}  // namespace
}  // namespace tmpi::launch
