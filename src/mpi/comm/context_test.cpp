// Context ids: who made them, what is derived from them, which ones cannot be the same.
#include "mpi/rank/new_context.hpp"

#include <doctest/doctest.h>

#include <set>

#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kLastRank = (1 << 22) - 2;

TEST_CASE("maker and number") {
  for (const int maker : {0, 1, 4711, kLastRank}) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{5}, detail::kNumberMask}) {
      const ContextId id = context_id(maker, number);
      CHECK(maker_of(id) == maker);
      CHECK(number_of(id) == number);
      CHECK(base_of(id) == id);
    }
  }
  CHECK(maker_of(kWorldContext) == -1);
}

TEST_CASE("parts, shadows and marks are told apart and lead back") {
  std::set<ContextId> all;
  int made = 0;
  for (const ContextId base :
       {kWorldContext, kSelfContext, context_id(0, 0), context_id(kLastRank, detail::kNumberMask)}) {
    for (int shadow = -1; shadow <= 6; ++shadow) {
      const ContextId of_shadow = shadow < 0 ? base : shadow_context(base, shadow);
      for (const PartKind part : {PartKind::kWhole, PartKind::kNode, PartKind::kInterNode}) {
        for (const ContextId mark : {ContextId{0}, kCollective, kCollectiveMessages}) {
          const ContextId id = part_context(of_shadow, part) | mark;
          CHECK(base_of(id) == base);
          CHECK_FALSE(is_named(id));
          all.insert(id);
          ++made;
        }
      }
    }
  }
  CHECK(static_cast<int>(all.size()) == made);
}

TEST_CASE("named ones") {
  const ContextId one = named_context("one"), other = named_context("onf");
  CHECK(one != other);
  CHECK(one == named_context("one"));
  CHECK(is_named(one | kCollectiveMessages));
  CHECK(base_of(one | kCollectiveMessages) == one);
}

TEST_CASE("a source gives the ids of its blocks in turn") {
  ContextSource source({{context_id(1, 10), 2}, {0, 0}, {context_id(5, 3), 1}});
  CHECK(source.next() == context_id(1, 10));
  CHECK(source.next() == context_id(1, 11));
  CHECK(source.next() == context_id(5, 3));
}

}  // namespace
}  // namespace tmpi::mpi
