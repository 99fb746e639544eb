#include "check/ledger.hpp"

#include <doctest/doctest.h>

using namespace tmpi::check;

namespace {

const Function kBarrier{.name = "MPI_Barrier", .match = Match::kFunction};
const Function kBcast{.name = "MPI_Bcast", .match = Match::kBcast};
const Function kBcastLarge{.name = "MPI_Bcast_c", .match = Match::kBcast, .large = true};

CollectiveCall bcast(int rank, int root, MPI_Count bytes, const Function& function = kBcast) {
  CollectiveCall call;
  call.function = &function;
  call.rank = rank;
  call.compares_root = true;
  call.root = root;
  call.bytes = bytes;
  return call;
}

CollectiveCall barrier(int rank) {
  CollectiveCall call;
  call.function = &kBarrier;
  call.rank = rank;
  return call;
}

}  // namespace

TEST_CASE("calls are compared with the first at their place, and forgotten when all have come") {
  const auto ledger = Ledger::of(1000);
  CHECK(Ledger::of(1000) == ledger);
  CHECK_FALSE(ledger->arrive(0, 3, bcast(0, 1, 8)));
  CHECK_FALSE(ledger->arrive(1, 3, barrier(0)));
  CHECK_FALSE(ledger->arrive(0, 3, bcast(1, 1, 8, kBcastLarge)));
  CHECK(ledger->open() == 2);
  const auto first = ledger->arrive(1, 3, bcast(1, 1, 8));
  REQUIRE(first);
  CHECK(first->rank == 0);
  CHECK(difference(bcast(1, 1, 8), *first).starts_with("All members"));
  CHECK_FALSE(ledger->arrive(0, 3, bcast(2, 1, 8)));
  CHECK(ledger->open() == 1);
}

TEST_CASE("what differs is said") {
  CHECK_FALSE(matches(bcast(0, 1, 8), bcast(1, 2, 8)));
  CHECK(difference(bcast(0, 1, 8), bcast(1, 2, 8)) == "The root is 1 here and 2 there");
  CHECK_FALSE(matches(bcast(0, 1, 8), bcast(1, 1, 4)));
  CHECK(difference(bcast(0, 1, 8), bcast(1, 1, 4)) ==
        "The data is 8 bytes here and 4 there: count or datatype differ");
}

TEST_CASE("after an error nothing is compared") {
  const auto ledger = Ledger::of(1001);
  CHECK_FALSE(ledger->arrive(0, 2, bcast(0, 1, 8)));
  ledger->give_up();
  CHECK_FALSE(ledger->arrive(0, 2, barrier(1)));
  CHECK(ledger->open() == 0);
}
