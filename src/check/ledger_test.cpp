#include "check/ledger.hpp"

#include <doctest/doctest.h>

#include <string>

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

const Function kSetView{.name = "MPI_File_set_view", .match = Match::kView, .on = HandleKind::kFile};
constexpr Agreed::Kind kRepresentation{"data representation",
                                       [](MPI_Count value) { return std::to_string(value); }};
constexpr Agreed::Kind kExtent{"extent of the etype", [](MPI_Count value) { return std::to_string(value); }};

CollectiveCall set_view(MPI_Count representation, MPI_Count extent) {
  CollectiveCall call;
  call.function = &kSetView;
  call.agreed = {{{&kRepresentation, representation}, {&kExtent, extent}}};
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

TEST_CASE("arguments that all members give alike are compared in their order") {
  CHECK(matches(set_view(1, 4), set_view(1, 4)));
  CHECK_FALSE(matches(set_view(1, 4), set_view(2, 8)));
  CHECK(difference(set_view(1, 4), set_view(2, 8)) == "The data representation is 1 here and 2 there");
  CHECK(difference(set_view(1, 4), set_view(1, 8)) == "The extent of the etype is 4 here and 8 there");
  CHECK(difference(set_view(1, 4), barrier(0)).starts_with("All members of a file's communicator"));
  // Unknown at one of both; and a hint that only one of both, or none, has given.
  CollectiveCall unknown = set_view(1, 4);
  unknown.agreed[1].kind = nullptr;
  CHECK(matches(unknown, set_view(1, 8)));
  CollectiveCall hinted = set_view(1, 4), other = set_view(1, 8);
  hinted.agreed[1].binding = false;
  CHECK_FALSE(matches(hinted, other));
  other.agreed[1].binding = false;
  CHECK(matches(hinted, other));
}

TEST_CASE("after an error nothing is compared") {
  const auto ledger = Ledger::of(1001);
  CHECK_FALSE(ledger->arrive(0, 2, bcast(0, 1, 8)));
  ledger->give_up();
  CHECK_FALSE(ledger->arrive(0, 2, barrier(1)));
  CHECK(ledger->open() == 0);
}
