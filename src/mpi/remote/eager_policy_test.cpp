// When a pair's eager limit changes, and to what.
#include <doctest/doctest.h>

#include "mpi/remote/credit.hpp"
#include "mpi/remote/eager_policy.hpp"

using tmpi::mpi::remote::EagerPolicy;

namespace {

constexpr MPI_Count kBase = 16 << 10;
constexpr MPI_Count kKib = 1024;

// A byte takes a tick.
EagerPolicy fresh(std::uint64_t release = 1000) {
  EagerPolicy policy;
  policy.use(3, kBase, release, 0.25);
  policy.moved(1, 64 * kKib, 64 * kKib);
  return policy;
}

void messages(EagerPolicy& policy, int count, MPI_Count bytes, std::uint64_t computed) {
  for (int i = 0; i < count; ++i) {
    policy.asked(1, bytes);
    policy.looked_for(1, bytes, computed);
  }
}

}  // namespace

TEST_CASE("the formula of Subramoni et al., 3.2") {
  CHECK(EagerPolicy::limit_for(64 * 1024, 1) == 64 * kKib + 1024);
  CHECK(EagerPolicy::limit_for(64 * 1024 + 32, 1) ==
        128 * kKib + 1024);  // a full power of two and its header
  CHECK(EagerPolicy::limit_for(3 * 40'000, 3) == 64 * kKib + 1024);
  CHECK(EagerPolicy::limit_for(1, 1) == 1025);
}

TEST_CASE("a limit is raised when at least half of the looks come after half of the transfer's time") {
  EagerPolicy policy = fresh();
  messages(policy, 3, 40'000, 40'000);
  CHECK(policy.larger_limit(1) == 0);  // too few
  messages(policy, 1, 40'000, 40'000);
  CHECK(policy.larger_limit(1) == 64 * kKib + 1024);
  CHECK(policy.larger_limit(2) == 0);  // another pair

  EagerPolicy prompt = fresh();
  messages(prompt, 100, 40'000, 19'000);  // as a bandwidth benchmark
  CHECK(prompt.larger_limit(1) == 0);
  CHECK(prompt.suggestion(1) == 64 * kKib + 1024);  // all the same: the peer may ask
  messages(prompt, 16, 40'000, 20'000);             // a phase that computes
  CHECK(prompt.larger_limit(1) == 64 * kKib + 1024);
}

TEST_CASE("a raised limit is used unless less than a quarter of the looks come late") {
  EagerPolicy policy = fresh();
  policy.answered(1, 40'000, 0, 100);
  messages(policy, 4, 40'000, 40'000);
  policy.changed(1, 64 * kKib + 1024, 1);
  CHECK(policy.pays(1, 40'000));
  messages(policy, 16, 40'000, 100);  // a phase that waits at once
  CHECK_FALSE(policy.pays(1, 40'000));
  CHECK(policy.pays(2, 40'000));  // another pair
  messages(policy, 16, 40'000, 40'000);
  CHECK(policy.pays(1, 40'000));
  for (int i = 0; i < 100; ++i) {  // receives during which the program computes, blocking sends
    messages(policy, 1, 40'000, 40'000);
    policy.blocked_for(1);
    CHECK(policy.pays(1, 40'000));
  }
  for (int i = 0; i < 16; ++i) policy.blocked_for(1);
  CHECK_FALSE(policy.pays(1, 40'000));
}

TEST_CASE("who waits at once does not ask while the other node's ranks compute") {
  EagerPolicy policy = fresh();
  policy.changed(1, 64 * kKib + 1024, 1);
  messages(policy, 3, 40'000, 100);
  CHECK_FALSE(policy.computes(1, false));  // too few to tell
  CHECK(policy.computes(1, true));
  messages(policy, 13, 40'000, 100);
  CHECK_FALSE(policy.computes(1, true));
  policy.set_peer_computes(1, true);
  CHECK(policy.pays(1, 40'000));
  CHECK_FALSE(policy.computes(1, false));                             // it speaks of this node's own
  for (int i = 0; i < 8; ++i) policy.answered(1, 40'000, 0, 90'000);  // by ranks that compute: of no use
  policy.set_peer_computes(1, false);
  CHECK_FALSE(policy.pays(1, 40'000));
  for (int i = 0; i < 8; ++i) policy.answered(1, 40'000, 0, 90'000);
  CHECK(policy.pays(1, 40'000));
}

TEST_CASE("who waits at once does not ask where asking takes longer than two copies") {
  EagerPolicy policy = fresh();
  policy.changed(1, 64 * kKib + 1024, 1);
  for (int i = 0; i < 10; ++i) policy.answered(1, 40'000, 0, 90'000);  // while ranks compute
  messages(policy, 16, 40'000, 100);
  policy.answered(1, 10'000, 0, 10);  // it lacked credit
  for (int i = 0; i < 7; ++i) policy.answered(1, 40'000, 0, 90'000);
  CHECK_FALSE(policy.pays(1, 20'000));  // how long it takes is found out first
  policy.answered(1, 40'000, 0, 20'000);
  CHECK(policy.pays(1, 40'000));
  CHECK_FALSE(policy.pays(1, 40'001));
  policy.answered(1, 20'000, 20'000, 25'000);  // and has been read: a byte takes a tick
  CHECK(policy.pays(1, 10'000));
  CHECK_FALSE(policy.pays(1, 10'001));
}

TEST_CASE("blocking operations, which nobody looks for later, raise nothing") {
  EagerPolicy policy = fresh();
  for (int i = 0; i < 100; ++i) policy.asked(1, 40'000);
  CHECK(policy.larger_limit(1) == 0);
}

TEST_CASE("nothing is concluded before a transfer has been seen") {
  EagerPolicy policy;
  policy.use(2, kBase, 1000, 0.25);
  messages(policy, 100, 40'000, 1'000'000);
  CHECK(policy.larger_limit(1) == 0);
  policy.moved(1, 40'000, 40'000);
  messages(policy, 4, 40'000, 1'000'000);
  CHECK(policy.larger_limit(1) > 0);
}

TEST_CASE("the fastest transfer counts: slower ones have waited for a CPU") {
  EagerPolicy policy = fresh();
  policy.moved(1, 64 * kKib, 64'000'000);
  messages(policy, 16, 40'000, 20'000);
  CHECK(policy.larger_limit(1) > 0);
}

TEST_CASE("messages within the limit, and those beyond any, are not counted") {
  EagerPolicy policy = fresh();
  messages(policy, 50, EagerPolicy::kMost + 1, 100'000'000);
  messages(policy, 50, kBase, 100'000'000);  // lacked credit
  CHECK(policy.suggestion(1) == 0);
  CHECK(policy.larger_limit(1) == 0);
  messages(policy, 50, EagerPolicy::kMost, 100'000'000);
  CHECK(policy.larger_limit(1) == EagerPolicy::kMost);
}

TEST_CASE(
    "after a change the messages before it count no longer; a limit goes up again, not down, for larger "
    "ones") {
  EagerPolicy policy = fresh();
  messages(policy, 50, 40'000, 40'000);
  policy.changed(1, 64 * kKib + 1024, 0);
  CHECK(policy.suggestion(1) == 0);
  messages(policy, 50, 200'000, 200'000);
  CHECK(policy.larger_limit(1) == 256 * kKib + 1024);
}

TEST_CASE("buffers that nobody uses are released, later each time") {
  EagerPolicy policy = fresh(1000);
  CHECK_FALSE(policy.unused(1, 1'000'000));  // has no larger limit
  policy.changed(1, 64 * kKib + 1024, 5000);
  CHECK_FALSE(policy.unused(1, 6000));
  CHECK(policy.unused(1, 6001));
  policy.used(1, 6000);
  CHECK_FALSE(policy.unused(1, 7000));
  CHECK(policy.unused(1, 7001));
  for (int i = 0; i < 10; ++i) {
    policy.changed(1, kBase, 8000);
    CHECK_FALSE(policy.unused(1, 1'000'000));
    policy.changed(1, 64 * kKib + 1024, 10'000);
    CHECK_FALSE(policy.unused(1, 10'000 + (i == 0 ? 2000 : 4000)));
  }
  CHECK_FALSE(policy.unused(1, 26'000));
  CHECK(policy.unused(1, 26'001));  // sixteen times, at most
}

TEST_CASE("credit: what senders of other jobs are owed is returned in batches of their own") {
  tmpi::mpi::remote::Owed owed;
  owed.use({.peers = 2, .batch = 1000}, {.peers = 2, .batch = 100}, 1);
  owed.prepare(1);
  owed.prepare(2);
  CHECK(owed.add(1, 0, 500) == 0);
  CHECK(owed.add(2, 0, 99) == 0);
  CHECK(owed.add(2, 0, 1) == 100);
  CHECK(owed.add(1, 0, 500) == 1000);
}
