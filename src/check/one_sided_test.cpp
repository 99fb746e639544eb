#include "check/one_sided.hpp"

#include <doctest/doctest.h>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {
namespace {

using Completed = WindowAccesses::Completed;

enum class How { kGet, kPut, kAdd, kFetch };

OneSidedAccess access(How how, std::uint64_t begin, MPI_Count count, MPI_Datatype type = MPI_INT) {
  OneSidedAccess made;
  made.bytes =
      *make_access(reinterpret_cast<const void*>(begin), count, type, how == How::kPut || how == How::kAdd);
  made.atomic = how == How::kAdd || how == How::kFetch;
  made.unit = mpi::datatype_from(type);
  made.returns = how == How::kGet || how == How::kFetch;
  return made;
}

OneSidedAccess by(int rank, OneSidedAccess access) {
  access.rank = access.local = rank;
  return access;
}

TEST_CASE("what may not be at the same time") {
  const auto at = [](How how) { return access(how, 100, 2); };
  CHECK(race(at(How::kPut), at(How::kPut)));
  CHECK(race(at(How::kPut), at(How::kGet)));
  CHECK(race(at(How::kPut), at(How::kFetch)));
  CHECK(race(at(How::kAdd), at(How::kGet)));
  CHECK_FALSE(race(at(How::kGet), at(How::kGet)));
  CHECK_FALSE(race(at(How::kGet), at(How::kFetch)));
  CHECK_FALSE(race(at(How::kAdd), at(How::kAdd)));
  CHECK_FALSE(race(at(How::kPut), access(How::kPut, 108, 2)));
}

TEST_CASE("atomic in other units") {
  CHECK(race(access(How::kAdd, 100, 1), access(How::kAdd, 100, 1, MPI_SHORT)));
  CHECK(race(access(How::kAdd, 100, 2), access(How::kAdd, 102, 1)));
  CHECK_FALSE(race(access(How::kAdd, 100, 2), access(How::kAdd, 104, 2)));
  OneSidedAccess derived = access(How::kAdd, 102, 1);
  derived.unit = nullptr;  // not known: perhaps it is right
  CHECK_FALSE(race(access(How::kAdd, 100, 2), derived));
}

struct Window {
  RankClocks clocks{3};
  WindowAccesses accesses;

  bool races(int rank, int whose, const OneSidedAccess& access) {
    return accesses.add(whose, by(rank, access), clocks.of(rank), &clocks).has_value();
  }
  void complete(int rank, Completed how = Completed::kEverywhere, int target = -1) {
    accesses.complete(rank, target, how, clocks.tick(rank));
  }
  void order(int first, int then) { clocks.learn(then, clocks.of(first)); }
};

TEST_CASE("the same memory, and nothing between") {
  Window window;
  CHECK_FALSE(window.races(0, 0, access(How::kPut, 100, 8)));
  CHECK_FALSE(window.races(1, 1, access(How::kPut, 100, 8)));  // another member's
  CHECK_FALSE(window.races(0, 0, access(How::kGet, 500, 1)));
  const auto found = window.accesses.add(0, by(1, access(How::kGet, 120, 1)), window.clocks.of(1), nullptr);
  REQUIRE(found.has_value());
  CHECK(found->bytes.begin == 100);
  CHECK(window.races(0, 0, access(How::kGet, 131, 1, MPI_CHAR)));  // its own
}

TEST_CASE("who knows that an access is complete is behind it") {
  Window window;
  CHECK_FALSE(window.races(0, 2, access(How::kPut, 100, 1)));
  window.order(0, 1);  // too early
  CHECK(window.races(1, 2, access(How::kGet, 100, 1)));
  window.complete(0);
  CHECK(window.races(1, 2, access(How::kGet, 100, 1)));  // nobody has told rank 1
  CHECK_FALSE(window.races(0, 2, access(How::kGet, 100, 1)));
  window.order(0, 1);
  CHECK_FALSE(window.races(1, 2, access(How::kGet, 100, 1)));
}

TEST_CASE("completions of other targets, of buffers, of requests") {
  Window window;
  OneSidedAccess put = access(How::kPut, 100, 1);
  put.target = 2;
  CHECK_FALSE(window.races(0, 2, put));
  window.complete(0, Completed::kEverywhere, 1);
  CHECK(window.races(0, 2, put));
  window.complete(0, Completed::kAtOrigin, 2);
  CHECK(window.races(0, 2, put));
  window.complete(0, Completed::kEverywhere, 2);
  CHECK_FALSE(window.races(0, 2, put));
  OneSidedAccess get = access(How::kGet, 200, 1);
  get.by_request = true;
  CHECK_FALSE(window.races(0, 2, get));
  window.complete(0, Completed::kRequests);
  CHECK_FALSE(window.races(0, 2, access(How::kPut, 200, 1)));
}

TEST_CASE("an exclusive lock keeps accesses apart") {
  Window window;
  OneSidedAccess put = access(How::kPut, 100, 1);
  put.locked = true;
  OneSidedAccess alone = put;
  alone.exclusive = true;
  CHECK_FALSE(window.races(0, 2, alone));
  CHECK_FALSE(window.races(1, 2, put));
  CHECK(window.races(2, 2, put));
  CHECK_FALSE(window.races(2, 2, alone));
}

TEST_CASE("what everybody knows is forgotten") {
  Window window;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    CHECK_FALSE(window.races(0, 1, access(How::kPut, 100 + 8 * i, 1)));
    window.complete(0);
    window.order(0, 1);
    if (i % 100 == 99) window.order(0, 2);
  }
  CHECK(window.accesses.remembered(1) < 600);
}

TEST_CASE("messages carry what their senders know") {
  RankClocks clocks(3);
  const mpi::MatchKey key{4, 0, 7};
  const std::uint32_t first = clocks.tick(0);
  clocks.sent(0, 1, key);
  const std::uint32_t second = clocks.tick(0);
  clocks.sent(0, 1, key);
  clocks.matched(1, key);
  CHECK(time_of(0, clocks.of(1)) == 0);  // not received yet
  clocks.receive(1);
  CHECK(time_of(0, clocks.of(1)) == first);
  clocks.see_all(1);
  CHECK(time_of(0, clocks.of(1)) == second);
  CHECK_FALSE(clocks.known_to_all(0, first));
  clocks.sent(1, -1, key);  // to another node process, and back to rank 2
  clocks.matched(2, {5, 9, 9});
  clocks.receive(2);
  CHECK(clocks.known_to_all(0, second));
}

}  // namespace
}  // namespace tmpi::check
