// --eager-limit dynamic between node processes: limits go up while ranks compute between start and wait, not otherwise;
// whatever the ranks exchange meanwhile arrives in order; and limits that nobody uses go down again.
#include <doctest/doctest.h>

#include <algorithm>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/testing/nodes.hpp"
#include "timers/clock.hpp"

using namespace tmpi::mpi;

namespace {

const Datatype& bytes() {
  return *datatype_from(MPI_BYTE);
}

// The core is not given away: nobody looks at the network meanwhile.
void compute(double seconds) {
  const double end = tmpi::timers::wtime() + seconds;
  while (tmpi::timers::wtime() < end) {
  }
}

struct Nonblocking {
  std::vector<char> data;
  Request* request;

  Nonblocking(Rank& rank, RequestKind kind, MPI_Count size, char fill, int peer, int tag)
      : data(static_cast<std::size_t>(size), fill),
        request(&create_request(rank.world,
                                {kind, SendMode::kStandard, data.data(), size, &bytes(), peer, tag})) {
    CHECK_FALSE(start(*request));
  }
  void finish() {
    wait(*request);
    MPI_Request handle = handle_of(*request);
    CHECK_FALSE(conclude(handle, *request, MPI_STATUS_IGNORE));
  }
};
using Operations = std::vector<std::unique_ptr<Nonblocking>>;

// Both ranks exchange a message of each of the sizes, computing between start and wait. All have the same tag, and
// each carries its number, so that one that overtakes another is noticed.
void exchange(Rank& rank, const std::vector<MPI_Count>& sizes, double seconds, int round) {
  const int peer = 1 - rank.world_rank;
  const auto number = [round](std::size_t i) { return static_cast<char>(round * 7 + static_cast<int>(i)); };
  Operations receives, sends;
  for (const MPI_Count size : sizes)
    receives.push_back(std::make_unique<Nonblocking>(rank, RequestKind::kRecv, size, 'x', peer, 1));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sends.push_back(std::make_unique<Nonblocking>(rank, RequestKind::kSend, sizes[i], number(i), peer, 1));
  compute(seconds);
  for (const auto& operation : receives) operation->finish();
  for (const auto& operation : sends) operation->finish();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<char>& got = receives[i]->data;
    CHECK(std::all_of(got.begin(), got.end(), [&](char c) { return c == number(i); }));
  }
}

testing::NodesOptions dynamic(const char* net, double release) {
  return {.nodes = 2, .ranks = 2, .net = net, .settings = {.release_seconds = release}};
}

constexpr MPI_Count kLarge = 100'000, kLimit = (128 << 10) + 1024;

}  // namespace

TEST_CASE(
    "a limit goes up while ranks compute between start and wait, and messages of all sizes keep their "
    "order") {
  for (const char* net : {"tcp", "sim:fdr-ib,dilation=4"}) {
    CAPTURE(std::string(net));
    testing::run_nodes(dynamic(net, 100), [](Rank& rank) {
      for (int round = 0; round < 30; ++round)
        exchange(rank, {kLarge, 10, kLarge, 5000, kLarge + 500}, 5e-4, round);
      const remote::ProtocolCounters counters = remote::counters();
      CHECK(counters.limits_raised == 1);
      CHECK(counters.limits_lowered == 0);
      CHECK(counters.largest_limit == kLimit);
      const std::uint64_t asked = counters.rendezvous;
      exchange(rank, {kLarge}, 0, 1);
      CHECK(remote::counters().rendezvous == asked);
    });
  }
}

TEST_CASE("nothing changes for ranks that wait at once, or block" * doctest::test_suite("timing")) {
  testing::run_nodes(dynamic("sim:fdr-ib,dilation=64", 100), [](Rank& rank) {
    for (int round = 0; round < 20; ++round) exchange(rank, {kLarge}, 0, round);
    std::vector<char> data(kLarge);
    const int peer = 1 - rank.world_rank;
    for (int round = 0; round < 20; ++round) {
      if (round % 2 == rank.world_rank)
        CHECK_FALSE(
            send(rank.world, rank.world.context, data.data(), kLarge, bytes(), peer, 1, SendMode::kStandard));
      else
        CHECK_FALSE(
            recv(rank.world, rank.world.context, data.data(), kLarge, bytes(), peer, 1, MPI_STATUS_IGNORE));
      compute(2e-3);
    }
    CHECK(remote::counters().limits_raised == 0);
  });
}

TEST_CASE("a phase that waits at once asks first, with the limit as it is; one that computes again does not" *
          doctest::test_suite("timing")) {
  constexpr MPI_Count kHuge = 900'000;
  testing::run_nodes(dynamic("sim:fdr-ib", 100), [](Rank& rank) {
    for (int round = 0; round < 30; ++round) exchange(rank, {kHuge}, 2e-3, round);
    const std::uint64_t before = remote::counters().rendezvous;
    CHECK(before < 15);
    for (int round = 0; round < 80; ++round) exchange(rank, {kHuge}, 0, round);
    const std::uint64_t asked = remote::counters().rendezvous;
    CHECK(asked >= before + 6);  // to find out how long that takes, at least
    for (int round = 0; round < 60; ++round) exchange(rank, {kHuge}, 2e-3, round);
    const remote::ProtocolCounters end = remote::counters();
    CHECK(end.rendezvous < asked + 15);
    CHECK(end.limits_raised == 1);
    CHECK(end.limits_lowered == 0);
  });
}

TEST_CASE("a sender that blocks goes unasked while only the receiver computes" *
          doctest::test_suite("timing")) {
  constexpr MPI_Count kHuge = 900'000;
  testing::run_nodes(dynamic("sim:fdr-ib", 100), [](Rank& rank) {
    std::vector<char> data(kHuge);
    Comm& world = rank.world;
    const auto receive = [&](MPI_Count size, int from, int tag) {
      CHECK_FALSE(recv(world, world.context, data.data(), size, bytes(), from, tag, MPI_STATUS_IGNORE));
    };
    // How many messages ask of those that the receiver gets by `get`.
    const auto asked = [&](int rounds, auto&& get) {
      const std::uint64_t before = remote::counters().rendezvous;
      for (int round = 0; round < rounds; ++round) {
        if (rank.world_rank == 0) {
          CHECK_FALSE(send(world, world.context, data.data(), kHuge, bytes(), 1, 1, SendMode::kStandard));
          receive(1, 1, 2);
        } else {
          get();
          CHECK_FALSE(send(world, world.context, data.data(), 1, bytes(), 0, 2, SendMode::kStandard));
        }
      }
      return remote::counters().rendezvous - before;
    };
    const auto computing = [&] {
      Nonblocking large(rank, RequestKind::kRecv, kHuge, 0, 0, 1);
      compute(2e-3);
      large.finish();
    };
    asked(40, computing);
    const std::uint64_t while_computing = asked(20, computing);
    const std::uint64_t blocking = asked(60, [&] { receive(kHuge, 0, 1); });
    asked(20, computing);
    const std::uint64_t while_computing_again = asked(20, computing);
    const std::uint64_t from_anywhere = asked(60, [&] { receive(kHuge, MPI_ANY_SOURCE, 1); });
    if (rank.world_rank != 0) return;
    CHECK(remote::counters().limits_raised == 1);
    CHECK(while_computing < 5);
    CHECK(blocking >= 6);  // it has been told that the receiver waits, and finds out what asking takes
    CHECK(while_computing_again < 5);
    CHECK(from_anywhere >= 6);
  });
}

TEST_CASE("a blocking receive between start and wait hides no computation" * doctest::test_suite("timing")) {
  testing::run_nodes(dynamic("sim:fdr-ib", 100), [](Rank& rank) {
    const int peer = 1 - rank.world_rank;
    std::vector<char> data(kLarge);
    for (int round = 0; round < 30; ++round) {
      Nonblocking theirs(rank, RequestKind::kRecv, kLarge, 'x', peer, 1);
      Nonblocking mine(rank, RequestKind::kSend, kLarge, 'y', peer, 1);
      Nonblocking first(rank, RequestKind::kSend, kLarge, 'z', peer, 2);
      CHECK_FALSE(
          recv(rank.world, rank.world.context, data.data(), kLarge, bytes(), peer, 2, MPI_STATUS_IGNORE));
      compute(1e-3);
      for (Nonblocking* operation : {&theirs, &mine, &first}) operation->finish();
    }
    CHECK(remote::counters().limits_raised == 1);
  });
}

TEST_CASE("a limit that nobody uses goes down, and up again" * doctest::test_suite("timing")) {
  for (const char* net : {"tcp", "sim:fdr-ib,dilation=4"}) {
    CAPTURE(std::string(net));
    testing::run_nodes(dynamic(net, 0.05), [](Rank& rank) {
      for (int phase = 0; phase < 2; ++phase) {
        for (int round = 0; round < 30; ++round) exchange(rank, {kLarge, kLarge}, 5e-4, round);
        CHECK(remote::counters().limits_raised >= static_cast<std::uint64_t>(phase + 1));
        // Small messages go on; those of a phase that lasts long enough find the small limit again.
        const double end = tmpi::timers::wtime() + 10;
        const auto lowered = static_cast<std::uint64_t>(phase + 1);
        for (int more = 1; more != 0;) {
          exchange(rank, {100, 2000}, 1e-3, phase);
          const int mine = remote::counters().limits_lowered < lowered && tmpi::timers::wtime() < end;
          // On as long as one of the two wants to.
          const int peer = 1 - rank.world_rank;
          Nonblocking theirs(rank, RequestKind::kRecv, 1, 0, peer, 4);
          const char word = static_cast<char>(mine);
          CHECK_FALSE(send(rank.world, rank.world.context, &word, 1, bytes(), peer, 4, SendMode::kStandard));
          theirs.finish();
          more = mine | theirs.data[0];
        }
        CHECK(remote::counters().limits_lowered >= lowered);
      }
    });
  }
}

TEST_CASE("early-cts and read with limits that change") {
  for (const remote::Rendezvous rendezvous : {remote::Rendezvous::kEarlyCts, remote::Rendezvous::kRead}) {
    testing::NodesOptions options = dynamic("sim:fdr-ib,dilation=4", 0.02);
    options.settings.rendezvous = rendezvous;
    testing::run_nodes(options, [](Rank& rank) {
      for (int round = 0; round < 60; ++round)
        exchange(rank, {kLarge, 10, round < 30 ? kLarge / 4 : 3 * kLarge}, round % 20 < 10 ? 5e-4 : 0, round);
    });
  }
}
