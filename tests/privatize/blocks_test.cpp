#include "privatize/blocks.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <utility>
#include <vector>

namespace tmpi::privatize {
namespace {

using Pieces = std::vector<std::pair<std::uintptr_t, std::size_t>>;

Pieces of(Blocks& blocks, int rank) {
  Pieces pieces;
  blocks.for_each_of(rank, [&](std::uintptr_t begin, std::size_t bytes) noexcept {
    pieces.push_back({begin, bytes});
  });
  return pieces;
}

TEST_CASE("blocks belong to ranks until they are freed, as a whole or in part") {
  Blocks blocks;
  blocks.add(1000, 500, 3);
  blocks.add(2000, 500, 4);
  blocks.add(3000, 500, 3);
  CHECK(of(blocks, 3) == Pieces{{1000, 500}, {3000, 500}});
  blocks.remove(3000);
  blocks.remove(2001);  // none begins there
  CHECK(of(blocks, 3) == Pieces{{1000, 500}});
  CHECK(of(blocks, 4) == Pieces{{2000, 500}});
  // The middle, the beginning, the end.
  CHECK(blocks.cut(1100, 100));
  CHECK(of(blocks, 3) == Pieces{{1000, 100}, {1200, 300}});
  CHECK(blocks.cut(900, 150));
  CHECK(of(blocks, 3) == Pieces{{1050, 50}, {1200, 300}});
  CHECK(blocks.cut(1400, 100));
  CHECK(of(blocks, 3) == Pieces{{1050, 50}, {1200, 200}});
  CHECK(!blocks.cut(1100, 100));
  CHECK(!blocks.cut(1300, 0));
  CHECK(!blocks.cut(1400, 600));
  // From within one into another.
  CHECK(blocks.cut(1300, 800));
  CHECK(of(blocks, 3) == Pieces{{1050, 50}, {1200, 100}});
  CHECK(of(blocks, 4) == Pieces{{2100, 400}});
  // What has been freed unseen is whoever's it is now.
  blocks.add(2200, 100, 3);
  CHECK(of(blocks, 3) == Pieces{{1050, 50}, {1200, 100}, {2200, 100}});
  CHECK(of(blocks, 4) == Pieces{{2100, 100}, {2300, 200}});
  CHECK(blocks.cut(0, 10000));
  CHECK(of(blocks, 3).empty());
  CHECK(of(blocks, 4).empty());
  for (std::uintptr_t i = 0; i < 100; ++i) blocks.add(100 * i, 50, static_cast<int>(i % 2));
  CHECK(of(blocks, 1).size() == 50);
}

TEST_CASE("who is interrupted while it holds the lock, and maps memory then, does not wait for itself") {
  Blocks blocks;
  blocks.add(1000, 500, 3);
  // A handler runs where the thread is inside, as around fork.
  blocks.lock();
  blocks.add(3000, 500, 3);
  blocks.remove(1000);
  CHECK(!blocks.cut(1000, 500));
  blocks.lock();
  blocks.unlock();
  blocks.unlock();
  CHECK(of(blocks, 3) == Pieces{{1000, 500}});
  blocks.add(3000, 500, 3);
  CHECK(of(blocks, 3) == Pieces{{1000, 500}, {3000, 500}});
}

TEST_CASE("no block is noted by malloc, in which a signal handler may have interrupted its thread") {
  Blocks blocks;
  const std::size_t before = mallinfo2().uordblks;
  for (std::uintptr_t i = 0; i < 5000; ++i) blocks.add(100 * i, 50, 1);
  for (std::uintptr_t i = 0; i < 5000; i += 2) blocks.remove(100 * i);
  for (std::uintptr_t i = 0; i < 5000; i += 2) blocks.add(100 * i, 50, 2);
  CHECK(mallinfo2().uordblks == before);
  CHECK(of(blocks, 1).size() == 2500);
  CHECK(of(blocks, 2).size() == 2500);
}

}  // namespace
}  // namespace tmpi::privatize
