// Pools of receive buffers: how many there are, of which size, and when they go.
#include "net/receive_pools.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace tmpi::net {
namespace {

std::size_t g_taken = 0;  // bytes
int g_left = -1;          // takes that succeed; -1: all

const ReceiveMemory kCounted = {[](std::size_t bytes) noexcept -> std::byte* {
                                  if (g_left == 0) return nullptr;
                                  g_left -= g_left > 0;
                                  g_taken += bytes;
                                  return static_cast<std::byte*>(std::malloc(bytes));
                                },
                                [](std::byte* buffer, std::size_t bytes) noexcept {
                                  g_taken -= bytes;
                                  std::free(buffer);
                                }};

TEST_CASE("connections of one size share a pool; the last one leaves its buffers for a while") {
  {
    ReceivePools pools(kCounted);
    ReceivePools::Share a, b, c;
    REQUIRE(pools.join(a, 1000, 8, true));
    REQUIRE(pools.join(b, 1000, 16, true));
    REQUIRE(pools.join(c, 5000, 8, true));
    CHECK(a.pool == b.pool);
    CHECK(pools.pools() == 2);
    CHECK(pools.bytes() == 64'000);
    CHECK(g_taken == 64'000);
    pools.leave(b);
    CHECK(pools.bytes() == 48'000);
    pools.leave(a);
    CHECK(pools.bytes() == 48'000);
    REQUIRE(pools.join(a, 1000, 8, true));  // finds them
    CHECK(pools.bytes() == 48'000);
    pools.leave(a);
    // Joined three times: stays three periods.
    for (int i = 0; i < 3; ++i) {
      pools.end_period();
      CHECK(pools.pools() == 2);
    }
    pools.end_period();
    CHECK(pools.pools() == 1);
    CHECK(pools.bytes() == 40'000);
    CHECK(pools.most_bytes() == 64'000);
  }
  CHECK(g_taken == 0);
}

TEST_CASE("a share grows with what lies there untaken, and shrinks when that was less for a period") {
  ReceivePools pools(kCounted);
  ReceivePools::Share share;
  REQUIRE(pools.join(share, 1000, 8, true));
  pools.need(share, 5);
  CHECK(share.buffers == 8);
  pools.need(share, 33);
  CHECK(share.buffers == 64);
  CHECK(pools.bytes() == 64'000);
  pools.end_period();
  CHECK(share.buffers == 64);  // has just been needed
  pools.need(share, 9);
  pools.end_period();
  CHECK(share.buffers == 32);
  for (int i = 0; i < 5; ++i) pools.end_period();
  CHECK(share.buffers == ReceivePools::kLeastShare);
  CHECK(pools.bytes() == 8000);
  pools.leave(share);
  pools.end_period();  // what has left is not looked at
}

TEST_CASE("a buffer that is used when its share goes is given back all the same") {
  ReceivePools pools(kCounted);
  ReceivePools::Share a, b;
  REQUIRE(pools.join(a, 1000, 2, false));
  REQUIRE(pools.join(b, 1000, 2, false));
  std::byte* buffers[4];
  for (std::byte*& buffer : buffers) buffer = pools.take(*a.pool);
  CHECK(buffers[3] != nullptr);
  CHECK(pools.take(*a.pool) == nullptr);
  ReceivePools::Pool& pool = *a.pool;
  pools.leave(a);
  CHECK(pools.bytes() == 4000);
  pools.give_back(pool, buffers[0]);
  pools.give_back(pool, buffers[1]);
  CHECK(pools.bytes() == 2000);
  pools.leave(b);
  for (int i = 0; i < 10; ++i) pools.end_period();
  CHECK(pools.pools() == 1);  // two are still used
  pools.give_back(pool, buffers[2]);
  pools.give_back(pool, buffers[3]);
  pools.end_period();
  CHECK(pools.pools() == 0);
  CHECK(g_taken == 0);
}

TEST_CASE("all buffers are used in turn") {
  ReceivePools pools(kCounted);
  ReceivePools::Share share;
  REQUIRE(pools.join(share, 1000, 4, false));
  std::byte* first[4];
  for (std::byte*& buffer : first) {
    buffer = pools.take(*share.pool);
    pools.give_back(*share.pool, buffer);
  }
  for (int i = 1; i < 4; ++i) CHECK(first[i] != first[i - 1]);
  std::byte* const again = pools.take(*share.pool);
  CHECK(again == first[0]);
  pools.give_back(*share.pool, again);
}

TEST_CASE("twenty pools, and no memory, at any point: nothing has changed") {
  ReceivePools pools(kCounted);
  ReceivePools::Share shares[ReceivePools::kMostPools];
  for (std::size_t i = 0; i < std::size(shares); ++i) REQUIRE(pools.join(shares[i], 1000 + i, 2, true));
  ReceivePools::Share more;
  const std::uint64_t bytes = pools.bytes();
  CHECK_FALSE(pools.join(more, 999, 2, true));
  CHECK(more.pool == nullptr);
  for (int allowed = 0; allowed < 4; ++allowed) {
    g_left = allowed;
    CHECK_FALSE(pools.join(more, 1000, 5, true));
    CHECK(pools.bytes() == bytes);
    pools.need(shares[0], 9);
    CHECK(shares[0].buffers == 2);
    CHECK(pools.bytes() == bytes);
  }
  g_left = -1;
  pools.leave(shares[7]);  // its pool makes room for another one at once
  CHECK(pools.join(more, 999, 2, true));
  CHECK(pools.pools() == ReceivePools::kMostPools);
}

TEST_CASE("the system's pages") {
  ReceivePools pools;
  ReceivePools::Share share;
  REQUIRE(pools.join(share, 70'000, 3, false));
  std::byte* const buffer = pools.take(*share.pool);
  buffer[0] = buffer[69'999] = std::byte{1};
  pools.give_back(*share.pool, buffer);
  CHECK_FALSE(pools.join(share, std::size_t{1} << 60, 1, false));
  CHECK(pools.bytes() == 210'000);
}

}  // namespace
}  // namespace tmpi::net
