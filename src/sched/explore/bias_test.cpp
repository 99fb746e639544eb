// Bias (base/bias.hpp): that nobody is inside together, and that the favoured side gets in again.
#include "base/bias.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

TEST_CASE("the favoured side is turned away while somebody claims, and only then") {
  REQUIRE(enable_process_barrier());
  Bias bias;
  CHECK(bias.enter());
  bias.leave();
  {
    const Claim one(&bias);
    CHECK_FALSE(bias.enter());
    {
      const Claim another(&bias);
      CHECK_FALSE(bias.enter());
    }
    CHECK_FALSE(bias.enter());
  }
  CHECK(bias.enter());
  bias.leave();
}

TEST_CASE("who claims waits for the favoured side, and nobody is inside together") {
  REQUIRE(enable_process_barrier());
  Bias bias;
  std::mutex others;
  long first = 0, second = 0;  // equal, but inside
  std::atomic<bool> stop{false};
  std::atomic<long> quick{0};
  long torn = 0;
  const auto both = [&] {
    torn += first != second;
    ++first;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++second;
  };
  std::thread favoured([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (bias.enter()) {
        both();
        quick.fetch_add(1, std::memory_order_relaxed);
        bias.leave();
      } else {
        const std::lock_guard lock(others);
        both();
      }
    }
  });
  // Each time when the favoured side has been inside since: both are at it, however the cores are shared out.
  const auto wait_for_favoured = [&](long before) {
    while (quick.load(std::memory_order_relaxed) == before) std::this_thread::yield();
  };
  wait_for_favoured(0);
  std::vector<std::thread> claimers;
  for (int i = 0; i < 2; ++i)
    claimers.emplace_back([&] {
      for (int claims = 0; claims < test::scaled(2000); ++claims) {
        const long before = quick.load(std::memory_order_relaxed);
        {
          const Claim claim(&bias);
          const std::lock_guard lock(others);
          both();
        }
        if (claims % 20 == 0) wait_for_favoured(before);
      }
    });
  for (std::thread& claimer : claimers) claimer.join();
  stop.store(true);
  favoured.join();
  CHECK(torn == 0);
  CHECK(first == second);
}

}  // namespace
}  // namespace tmpi::sched
