// What the tests of collectives share: every combination of ranks, workers and policy, data that is a
// function of rank and index.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/sanitized.hpp"
#include "mpi.h"
#include "mpi/testing/nodes.hpp"
#include "mpi/testing/ranks.hpp"

namespace tmpi::mpi::test {

inline std::atomic<int> failures{0};

inline void expect(bool right, const char* what, int rank, int size) {
  if (right) return;
  if (++failures < 20) MESSAGE(std::string(what), " on rank ", rank, " of ", size);
}

/// Checks inside a rank; `rank` and `size` must be in scope.
#define EXPECT(condition) expect((condition), #condition, rank, size)

/// The same with ranks in several node processes.
inline void on_several_nodes(const std::function<void(int rank, int size)>& body) {
  for (const testing::NodesOptions& options :
       {testing::on_sim(2, 7, 2, false), testing::on_sim(2, 2, 1, true), testing::on_sim(3, 8, 1, true)}) {
    if (kSanitized && options.ranks != 7) continue;  // starting processes is slow there
    run_nodes(options, [&](Rank& rank) {
      body(rank.world_rank, options.ranks);
      CHECK(failures == 0);
    });
  }
}

inline const std::vector<int> kSizes = {1, 2, 3, 7, 16, 65};

/// The body must be right for any number of ranks and workers and any policy in one process. Under a
/// sanitizer, which is slow: fewer of them.
inline void on_one_node(const std::function<void(int rank, int size)>& body,
                        const std::vector<int>& sizes = kSizes) {
  failures = 0;
  for (const int ranks : sizes) {
    for (const int workers : {1, 2, 3}) {
      for (const char* policy : {"fifo", "lifo", "random:11"}) {
        if (!testing::worth_running(ranks, workers, policy)) continue;
        testing::run_ranks(
            ranks, workers, [&](Rank& rank) { body(rank.world_rank, ranks); }, policy);
      }
    }
  }
  CHECK(failures == 0);
}

/// The same, and on several nodes.
inline void on_many(const std::function<void(int rank, int size)>& body,
                    const std::vector<int>& sizes = kSizes) {
  on_one_node(body, sizes);
  on_several_nodes(body);
}

inline const std::vector<int> kCounts =
    kSanitized ? std::vector<int>{0, 1, 16, 3000} : std::vector<int>{0, 1, 3, 16, 300, 9000};

/// A vector's length from a product of counts.
inline std::size_t length_of(int elements) {
  return static_cast<std::size_t>(elements);
}

/// Element i of what `rank` contributes; small enough for sums and products modulo a prime.
inline int value(int rank, int i) {
  return static_cast<int>((static_cast<unsigned>(rank) * 7919u + static_cast<unsigned>(i) * 104729u + 17u) %
                          1009u);
}

inline std::vector<int> contribution(int rank, int count, int first = 0) {
  std::vector<int> data(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = value(rank, first + i);
  return data;
}

}  // namespace tmpi::mpi::test
