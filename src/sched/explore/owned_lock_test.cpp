// OwnedLock (base/owned_lock.hpp): that nobody is inside together while the lock is owned, taken away and owned again.
#include "base/owned_lock.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

struct ShortRows : OwnedLockSystem {
  static constexpr std::uint16_t kFirstRow = 2, kLongestRow = 16;
};

TEST_CASE("an owned lock is taken away again and again, and nobody is inside together") {
  REQUIRE(enable_process_barrier());
  using Lock = BasicOwnedLock<ShortRows>;
  Lock lock;
  long first = 0, second = 0;  // equal, but inside
  long torn = 0;
  std::atomic<long> owned{0};
  std::atomic<bool> stop{false};
  const auto use = [&](int worker) {
    const Lock::Hold hold = lock.lock(worker);
    torn += first != second;
    ++first;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++second;
    lock.unlock(hold);
    return hold == Lock::Hold::kOwner;
  };
  std::thread owner([&] {
    while (!stop.load(std::memory_order_relaxed))
      if (use(3)) owned.fetch_add(1, std::memory_order_relaxed);
  });
  // Not before it is owned again, now and then: both are at it, however the cores are shared out. But not for ever, since
  // it may be waiting for another former owner to come again.
  std::vector<std::thread> others;
  for (const int worker : {-1, 5})
    others.emplace_back([&, worker] {
      for (int times = 0; times < test::scaled(2000); ++times) {
        if (times % 20 == 0) {
          const long before = owned.load(std::memory_order_relaxed);
          for (int looks = 0; looks < 1000 && owned.load(std::memory_order_relaxed) == before; ++looks)
            std::this_thread::yield();
        }
        use(worker);
      }
    });
  for (std::thread& other : others) other.join();
  stop.store(true);
  owner.join();
  CHECK(owned.load() > 0);
  CHECK(torn == 0);
  CHECK(first == second);
}

}  // namespace
}  // namespace tmpi::sched
