// The selection table: every row gives what the first one gives; choices of the user.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/calls_test_support.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/shm/shadow_comm.hpp"

namespace tmpi::mpi::test {
namespace {

// Rows for members on several nodes: nodes_test.cpp.
bool needs_nodes(const Algorithm& row) {
  const Query one_node{.ranks = 8}, two_nodes{.ranks = 8, .nodes = 2, .most_on_node = 4, .fewest_on_node = 4};
  return !row.works(one_node) && row.works(two_nodes);
}

TEST_CASE("every row of the table gives what the selected one gives") {
  const std::vector<int> sizes = kSanitized ? std::vector<int>{5} : std::vector<int>{1, 2, 3, 4, 7, 8, 13};
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const int ranks : sizes) {
      for (int workers = kThreadSanitized ? 2 : 1; workers <= std::min(2, ranks); ++workers) {
        REQUIRE(prefer_algorithms(""));
        const std::vector<Ints> right = outcome(collective, ranks, workers);
        for (const Algorithm& row : algorithms(collective)) {
          if (needs_nodes(row)) continue;
          CAPTURE(row.name);
          CAPTURE(ranks);
          CAPTURE(workers);
          REQUIRE(prefer_algorithms(std::string(name_of(collective)) + "=" + row.name));
          CHECK(outcome(collective, ranks, workers) == right);
        }
      }
    }
  }
  REQUIRE(prefer_algorithms(""));
}

TEST_CASE("for members on several nodes each collective has an algorithm in any case") {
  for (int c = 0; c < kCollectives; ++c) {
    const Query worst{.ranks = 7,
                      .nodes = 2,
                      .bytes = 3'000'000,
                      .commutative = false,
                      .dense = false,
                      .in_place = true,
                      .ragged = true};
    int possible = 0;
    for (const Algorithm& row : algorithms(static_cast<Collective>(c))) {
      possible += row.works(worst) && row.suits(worst) ? 1 : 0;
    }
    CAPTURE(name_of(static_cast<Collective>(c)));
    CHECK(possible >= 1);
  }
}

TEST_CASE("the table, the conditions and the help text say the same") {
  const std::string help = describe_algorithms();
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Algorithm& row : algorithms(collective)) {
      CAPTURE(row.name);
      CHECK(row.collective == collective);
      CHECK((row.forms.finish == nullptr || row.forms.start != nullptr));
      CHECK(help.find(describe(row)) != std::string::npos);
    }
  }
  CHECK(describe(algorithm::kAllreduceRing) == "operators that commute; by itself from 4 MiB");
  CHECK(describe(algorithm::kScanLinear) == "any; only if asked for");
}

TEST_CASE(
    "two members on two workers use messages for what is small, others come together in shared memory") {
  const auto selected = [](Collective collective, const Query& query) {
    for (const Algorithm& row : algorithms(collective))
      if (row.works(query) && row.suits(query)) return std::string(row.name);
    return std::string();
  };
  Query query{.ranks = 2, .bytes = 8, .cell_limit = kKiB};
  CHECK(selected(Collective::kBarrier, query) == "shared_barrier");
  CHECK(selected(Collective::kAllreduce, query) == "cells");
  query.pair_apart = true;
  CHECK(selected(Collective::kBarrier, query) == "dissemination");
  CHECK(selected(Collective::kAllreduce, query) == "recursive_doubling");
  const auto together = [](const std::string& name) {
    return name == "cells" || name == "segments" || name == "pull" || name == "slot_ring";
  };
  for (const Collective exchange : {Collective::kAllgather, Collective::kAlltoall, Collective::kReduceScatter,
                                    Collective::kScan, Collective::kExscan}) {
    CAPTURE(static_cast<int>(exchange));
    CHECK_FALSE(together(selected(exchange, query)));
  }
  // Who is no root may have ended when it turns out that the root has called something else.
  for (const Collective rooted :
       {Collective::kReduce, Collective::kBcast, Collective::kGather, Collective::kScatter})
    CHECK(together(selected(rooted, query)));
  query.bytes = 136;
  CHECK(selected(Collective::kAllreduce, query) == "cells");
  query.bytes = kKiB + 8;
  CHECK(selected(Collective::kAllreduce, query) == "segments");
  for (const Collective large : {Collective::kReduceScatter, Collective::kScan, Collective::kExscan,
                                 Collective::kAllgather, Collective::kAlltoall})
    CHECK(together(selected(large, query)));
}

// Kinds and sizes in turn, on a communicator that has chosen before and on one that has not.
TEST_CASE("a choice at hand is the one that the table would make") {
  testing::run_ranks(3, 2, [](Rank& rank) {
    int differ = 0, several = 0;
    const Datatype* type = datatype_from(MPI_INT);
    const Op* sum = op_from(MPI_SUM);
    for (int i = 0; i < 2000; ++i) {
      const auto collective = static_cast<Collective>(i * 7 % kCollectives);
      const bool reduces = collective >= Collective::kReduce && collective <= Collective::kExscan;
      Args args{.collective = collective};
      args.send = args.recv = {.count = i % 5 * 1000, .type = type};
      if (reduces) args.op = sum;
      args.in_place = i % 3 == 0;
      args.ragged = !reduces && i % 4 == 0;
      const bool part = i % 11 == 0;
      const ChosenAlgorithm before = rank.world.chosen[static_cast<std::size_t>(collective)];
      const Algorithm* at_hand = select(rank.world, args, part);
      several += before.algorithm != at_hand ? 1 : 0;
      rank.self.chosen = {};
      std::swap(rank.world.chosen, rank.self.chosen);  // the world has not chosen
      differ += select(rank.world, args, part) != at_hand ? 1 : 0;
      std::swap(rank.world.chosen, rank.self.chosen);
    }
    rank.self.chosen = {};
    CHECK(differ == 0);
    CHECK(several > 100);
  });
}

// The table asks the observer.
TEST_CASE("kinds in turn do not take each other's choices away") {
  static std::atomic<int> asked;
  asked = 0;
  testing::run_ranks(1, 1, [](Rank& rank) {
    observe_choices([](Rank&, const Algorithm&, const Query&) noexcept { ++asked; });
    for (int round = 0; round < 10; ++round) {
      for (int c = 0; c < kCollectives; ++c) {
        Args args{.collective = static_cast<Collective>(c)};
        args.send = args.recv = {.count = 1, .type = datatype_from(MPI_INT)};
        if (args.collective >= Collective::kReduce && args.collective <= Collective::kExscan)
          args.op = op_from(MPI_SUM);
        (void)select(rank.world, args);
      }
    }
    observe_choices(nullptr);
  });
  CHECK(asked == kCollectives);
}

TEST_CASE("nonblocking calls of two members on two workers come together in shared memory") {
  testing::run_ranks(2, 2, [](Rank& rank) {
    Args args{.collective = Collective::kBarrier};
    CHECK(std::string(select(rank.world, args)->name) == "dissemination");
    CHECK(std::string(select(shadows_of(rank.world).next().comm, args)->name) == "shared_barrier");
  });
}

TEST_CASE("choices") {
  CHECK(prefer_algorithms("allreduce=RING,BCAST=binomial"));
  CHECK(std::string(preferred_algorithm(Collective::kAllreduce)->name) == "ring");
  CHECK(std::string(preferred_algorithm(Collective::kBcast)->name) == "binomial");
  CHECK(preferred_algorithm(Collective::kScan) == nullptr);

  const auto complaint = [](const char* choices) {
    const Result<void> result = prefer_algorithms(choices);
    return result ? std::string() : result.message();
  };
  CHECK(complaint("ALLREDUCE").find("NAME=ALGORITHM") != std::string::npos);
  CHECK(complaint("ALLREDUCE=fast").find("it has cells, segments") != std::string::npos);
  CHECK(complaint("ALLSUM=ring").find("BARRIER, BCAST") != std::string::npos);
  CHECK(prefer_algorithms(""));
  CHECK(preferred_algorithm(Collective::kBcast) == nullptr);
  CHECK(describe_algorithms().find("rabenseifner") != std::string::npos);
}

int informed = 0;

TEST_CASE("a choice that does not work for a call is reported once") {
  register_callbacks({.abort_job = nullptr, .inform = [](const std::string&) { ++informed; }});
  const Algorithm& row = algorithms(Collective::kBarrier).back();
  report_fallback(row);
  report_fallback(row);
  CHECK(informed == 1);
  REQUIRE(prefer_algorithms("GATHER=binomial"));
  CHECK_FALSE(preferred_algorithm(Collective::kGather)->works({.ragged = true}));
  REQUIRE(prefer_algorithms(""));
}

}  // namespace
}  // namespace tmpi::mpi::test
