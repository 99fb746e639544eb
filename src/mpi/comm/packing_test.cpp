// What is packed comes out again, groups at little cost.
#include "mpi/comm/packing.hpp"

#include <doctest/doctest.h>

#include "mpi.h"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {
namespace {

TEST_CASE("values, lists, texts and groups in order") {
  const GroupPtr range = Group::range(3, 1000, 2), list = Group::list({4, 1, 9}), one = Group::range(7, 1);
  Packer packer;
  packer.value(42);
  packer.values({1, -2, 3});
  packer.values({});
  packer.text("a tag");
  packer.text("");
  for (const GroupPtr& group :
       {GroupPtr(), range, list, Group::list({4, 1, 9}), GroupPtr(), list, one, Group::empty()})
    packer.group(group);

  Unpacker unpacker(packer.bytes());
  CHECK(unpacker.value<int>() == 42);
  CHECK(unpacker.values() == std::vector{1, -2, 3});
  CHECK(unpacker.values().empty());
  CHECK(unpacker.text() == "a tag");
  CHECK(unpacker.text().empty());
  CHECK(unpacker.group() == nullptr);
  CHECK(compare(*unpacker.group(), *range) == MPI_IDENT);
  const GroupPtr first = unpacker.group(), again = unpacker.group();
  CHECK(compare(*first, *list) == MPI_IDENT);
  CHECK(first == again);
  CHECK(unpacker.group() == nullptr);
  CHECK(unpacker.group() == first);
  CHECK(compare(*unpacker.group(), *one) == MPI_IDENT);
  CHECK(unpacker.group()->size() == 0);
}

TEST_CASE("a regular group takes few bytes, and so does the same group again") {
  Packer regular, repeated;
  regular.group(Group::range(0, 100000));
  CHECK(regular.bytes().size() < 32);
  std::vector<int> members(1000);
  for (int i = 0; i < 1000; ++i) members[static_cast<std::size_t>(i)] = i * 7919 % 1009;
  repeated.group(Group::list(members));
  const std::size_t once = repeated.bytes().size();
  for (int i = 0; i < 1000; ++i) repeated.group(Group::list(members));
  CHECK(repeated.bytes().size() < once + 5000);
}

}  // namespace
}  // namespace tmpi::mpi
