#include "check/one_sided.hpp"

#include <doctest/doctest.h>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {
namespace {

enum class How { kGet, kPut, kAdd, kFetch };

OneSidedAccess access(How how, std::uint64_t begin, MPI_Count count, MPI_Datatype type = MPI_INT) {
  OneSidedAccess made;
  made.bytes =
      *make_access(reinterpret_cast<const void*>(begin), count, type, how == How::kPut || how == How::kAdd);
  made.atomic = how == How::kAdd || how == How::kFetch;
  made.unit = mpi::datatype_from(type);
  return made;
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

TEST_CASE("the same memory between the same fences") {
  EpochAccesses accesses;
  CHECK_FALSE(accesses.add(1, 0, access(How::kPut, 100, 8)).has_value());
  CHECK_FALSE(accesses.add(1, 1, access(How::kPut, 100, 8)).has_value());  // another member's
  CHECK_FALSE(accesses.add(2, 0, access(How::kPut, 100, 8)).has_value());  // in the next epoch
  CHECK_FALSE(accesses.add(2, 0, access(How::kGet, 500, 1)).has_value());
  const auto found = accesses.add(2, 0, access(How::kGet, 120, 1));
  REQUIRE(found.has_value());
  CHECK(found->bytes.begin == 100);
  CHECK(accesses.add(1, 0, access(How::kGet, 131, 1, MPI_CHAR))
            .has_value());  // by who has not come to the fence yet
  CHECK_FALSE(accesses.add(4, 0, access(How::kGet, 100, 1)).has_value());
  CHECK_FALSE(accesses.add(2, 0, access(How::kGet, 100, 1)).has_value());  // forgotten
}

}  // namespace
}  // namespace tmpi::check
