#include "privatize/mapping_limit.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "privatize/arena_registry.hpp"

namespace tmpi::privatize {
namespace {

/// For heaps, transports and what else comes later, stacks with light guards included. On kernels without them stacks
/// need two mappings per rank more; the scheduler checks that itself.
constexpr std::size_t kHeadroom = 1000;

/// Wide guards of stacks take two mappings each while that is at most this part of the limit (ult/stack_arena.cpp).
constexpr std::size_t kStackShare = 128;

std::size_t for_stacks(std::size_t ranks, std::size_t limit) {
  return 2 * ranks <= limit / kStackShare ? 2 * ranks : 0;
}

std::size_t mappings_now() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

/// What programs loaded before (MPMD) will still map.
std::size_t promised_mappings() {
  std::size_t count = 0;
  arena_registry().for_each([&](const ImageSet& set) {
    int left = set.expected();
    for (int i = 0; i < set.images(); ++i) left -= set.rank(i) >= 0 ? 1 : 0;
    count += static_cast<std::size_t>(std::max(left, 0)) * set.mappings_per_image();
  });
  return count;
}

}  // namespace

Result<void> check_mapping_limit(const ImageSet& set) {
  std::size_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  const std::size_t per_image = set.mappings_per_image();
  const std::size_t wanted = per_image * static_cast<std::size_t>(set.expected());
  const std::size_t promised = promised_mappings();
  if (limit == 0 || promised + wanted + kHeadroom < limit / 2) return {};  // far away: no need to count
  const std::size_t used =
      promised + mappings_now() + kHeadroom + for_stacks(static_cast<std::size_t>(set.expected()), limit);
  if (used + wanted <= limit) return {};
  const std::size_t possible = limit > used ? (limit - used) / per_image : 0;
  return Failure{std::to_string(set.expected()) + " ranks of " + set.objects().front()->file->path() +
                 " need " + std::to_string(wanted) + " memory mappings (" + std::to_string(per_image) +
                 " each), but the kernel allows " + std::to_string(limit) +
                 " per process (vm.max_map_count): at most " + std::to_string(possible) +
                 " ranks on this node; raise the limit with: sysctl -w vm.max_map_count=" +
                 std::to_string(used + wanted + 1000) + ", or start more node processes (--nodes)"};
}

}  // namespace tmpi::privatize
