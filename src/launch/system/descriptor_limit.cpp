#include "launch/system/descriptor_limit.hpp"

#include <algorithm>

namespace tmpi::launch {
namespace {

constexpr rlim_t kOwn = 64;
constexpr rlim_t kPerRank = 64;
constexpr rlim_t kPerNode = 2;  // both may connect at the same time

}  // namespace

void raise_descriptor_limit(rlim_t needed) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(limit.rlim_max, needed);
  setrlimit(RLIMIT_NOFILE, &limit);  // what cannot be had is told where a descriptor is missing
}

rlim_t descriptors_of_node_process(int ranks, int nodes) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t more = kOwn + kPerRank * static_cast<rlim_t>(std::max(ranks - 1, 0)) +
                      kPerNode * static_cast<rlim_t>(std::max(nodes, 0));
  return std::min(limit.rlim_max, limit.rlim_cur) + more;  // may be above the hard limit
}

}  // namespace tmpi::launch
