#include <doctest/doctest.h>

#include <map>
#include <numeric>

#include "observe/sent_tally.hpp"
#include "observe/time_bins.hpp"

namespace tmpi::observe {
namespace {

TEST_CASE("to whom a rank has sent is counted for each") {
  SentTally tally;
  std::map<int, MessageSum> expected;
  for (int i = 0; i < 5000; ++i) {
    const int to = i * i % 700;
    tally.sent(to, static_cast<std::uint64_t>(i));
    expected[to].add(static_cast<std::uint64_t>(i));
  }
  std::size_t peers = 0;
  tally.for_each_peer([&](const SentTally::Peer& peer) {
    ++peers;
    CHECK(peer.sum.messages == expected[peer.rank].messages);
    CHECK(peer.sum.bytes == expected[peer.rank].bytes);
  });
  CHECK(peers == expected.size());
  CHECK(tally.others().messages == 0);
}

TEST_CASE("ranks beyond the most that are told apart are counted together") {
  SentTally tally;
  for (int to = 0; to < 3000; ++to) tally.sent(to, 2);
  std::uint32_t peers = 0;
  tally.for_each_peer([&](const SentTally::Peer&) { ++peers; });
  CHECK(peers == SentTally::kMostPeers);
  CHECK(tally.others().messages == 3000 - SentTally::kMostPeers);
  CHECK(tally.others().bytes == 2 * (3000 - SentTally::kMostPeers));
}

TEST_CASE("sizes fall into classes by their binary digits") {
  SentTally tally;
  CHECK(tally.sizes(mpi::Departure::kEager, false) == nullptr);
  for (const std::uint64_t size : {0, 1, 2, 3, 4, 1024}) tally.left(mpi::Departure::kEager, false, size);
  const SizeClasses& sizes = *tally.sizes(mpi::Departure::kEager, false);
  CHECK(sizes[0].messages == 1);
  CHECK(sizes[1].messages == 1);
  CHECK(sizes[2].messages == 2);
  CHECK(sizes[3].messages == 1);
  CHECK(sizes[11].bytes == 1024);
  CHECK(tally.sizes(mpi::Departure::kEager, true) == nullptr);
}

TEST_CASE("bins lose no tick, however long the job becomes") {
  TimeBins bins;
  std::uint64_t computing = 0, inside = 0, now = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t length = 1 + (i * 2654435761u) % 5'000'000;
    bins.add(now, now + length, length / 3);
    inside += length / 3;
    computing += length - length / 3;
    now += length + 1000;
  }
  CHECK(bins.width() * TimeBins::kBins >= now);
  std::uint64_t all_computing = 0, all_inside = 0;
  for (const TimeBins::Bin& bin : bins.bins()) {
    CHECK(bin.computing + bin.mpi <= bins.width());
    all_computing += bin.computing;
    all_inside += bin.mpi;
  }
  CHECK(all_computing == computing);
  CHECK(all_inside == inside);
}

}  // namespace
}  // namespace tmpi::observe
