// Collectives with members in several node processes: every row of the table gives what one process gives,
// results repeat to the bit, and between the nodes go as many messages as there are nodes, not ranks.
#include <bit>
#include <cstring>

#include "mpi/coll/calls_test_support.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/testing/nodes.hpp"

namespace tmpi::mpi::test {
namespace {

struct Shape {
  int nodes, ranks, workers;
  bool cyclic;
};
// Starting processes is slow under a sanitizer.
const std::vector<Shape> kShapes =
    !every_variant() ? std::vector<Shape>{{3, 7, 2, true}}
    : kSanitized     ? std::vector<Shape>{{2, 8, 2, false}, {3, 7, 2, true}}
                     : std::vector<Shape>{{2, 8, 2, false}, {2, 7, 1, true}, {3, 8, 1, false},
                                          {3, 7, 2, true},  {2, 2, 1, true}, {4, 5, 1, false}};

testing::NodesOptions options_of(const Shape& shape) {
  return testing::on_sim(shape.nodes, shape.ranks, shape.workers, shape.cyclic);
}

// A barrier that the choice does not concern.
void come_together(Rank& rank) {
  Args args{.collective = Collective::kBarrier};
  CHECK(!run_part(rank.world, args));
}

// The first rank of each process makes the choice, which is the process's, while nobody is in a collective
// that it concerns.
void choose(Rank& rank, const std::string& choice) {
  come_together(rank);
  if (&rank == &job()->local_at(0)) CHECK(prefer_algorithms(choice));
  come_together(rank);
}

TEST_CASE("every row gives the same on several nodes as in one process") {
  for (const Shape& shape : kShapes) {
    std::vector<std::vector<Ints>> right;
    for (int c = 0; c < kCollectives; ++c)
      right.push_back(outcome(static_cast<Collective>(c), shape.ranks, 1));
    CAPTURE(shape.nodes);
    CAPTURE(shape.ranks);
    run_nodes(options_of(shape), [&](Rank& rank) {
      for (int c = 0; c < kCollectives; ++c) {
        const auto collective = static_cast<Collective>(c);
        const Ints& expected = right[static_cast<std::size_t>(c)][static_cast<std::size_t>(rank.world_rank)];
        CHECK_MESSAGE(results_of(collective, rank.world_rank, shape.ranks) == expected, name_of(collective),
                      " by itself, rank ", rank.world_rank);
        for (const Algorithm& row : algorithms(collective)) {
          choose(rank, std::string(name_of(collective)) + "=" + row.name);
          CHECK_MESSAGE(results_of(collective, rank.world_rank, shape.ranks) == expected, name_of(collective),
                        " by ", row.name, ", rank ", rank.world_rank);
        }
        choose(rank, "");
      }
    });
  }
}

// Sums of doubles that depend on the order.
std::vector<double> fractions(int rank, int count) {
  std::vector<double> data(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = 1.0 / (1 + value(rank, i));
  return data;
}

TEST_CASE("floating-point results are the same on all members and repeat to the bit") {
  for (const Shape& shape : kShapes) {
    run_nodes(options_of(shape), [&](Rank& rank) {
      for (const int count : {1, 100, 30000, 200000}) {
        if (count > 30000 && !every_variant()) continue;
        const std::vector<double> mine = fractions(rank.world_rank, count);
        std::vector<double> once(mine.size()), again = mine, first(mine.size());
        MPI_Allreduce(mine.data(), once.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, again.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(std::memcmp(once.data(), again.data(), mine.size() * sizeof(double)) == 0);
        first = once;
        MPI_Bcast(first.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK(std::memcmp(once.data(), first.data(), mine.size() * sizeof(double)) == 0);
      }
    });
  }
}

TEST_CASE("between nodes go messages of nodes, not of ranks") {
  for (const int nodes : {2, 3, 4}) {
    testing::NodesOptions options = options_of({nodes, 8 * nodes, 2, nodes == 3});
    run_nodes(options, [&](Rank& rank) {
      constexpr int kTimes = 10;
      const auto rounds = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(nodes - 1)));
      const auto messages = [&](auto&& call) {
        CHECK(!barrier(rank.world));
        const std::uint64_t before = remote::counters().eager;
        for (int i = 0; i < kTimes; ++i) call();
        return remote::counters().eager - before;
      };
      const std::uint64_t barriers = messages([&] { CHECK(!barrier(rank.world)); });
      const bool leader = &rank == &job()->local_at(0);  // who sends, hence counts exactly
      CHECK((!leader || barriers == kTimes * rounds));
      // An uneven node hands its part to another and gets the result back.
      const std::uint64_t sums = messages([&] {
        double mine = 1, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == 8 * nodes);
      });
      CHECK((!leader || sums <= kTimes * (rounds + 1)));
    });
  }
}

}  // namespace
}  // namespace tmpi::mpi::test
