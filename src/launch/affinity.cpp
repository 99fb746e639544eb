#include "launch/affinity.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace tmpi::launch {
namespace {

constexpr std::size_t kMostProcessors = 8192;  // the kernel's own limit

// The processors of the same core as the kernel lists them: "0,64"; the same text for all of them.
std::string siblings(std::size_t processor) {
  std::string list;
  std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor)) >>
      list;
  return list.empty() ? std::to_string(processor) : list;
}

}  // namespace

Affinity own_affinity() {
  Affinity own;
  own.all_processors = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t* set = CPU_ALLOC(kMostProcessors);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostProcessors);
  if (set == nullptr || sched_getaffinity(0, bytes, set) != 0) {
    CPU_FREE(set);
    own.cores = own.processors = own.all_processors;
    return own;
  }
  std::set<std::string> cores;
  own.mask.clear();
  for (std::size_t nibble = kMostProcessors / 4; nibble-- > 0;) {
    unsigned digit = 0;
    for (std::size_t bit = 0; bit < 4; ++bit) {
      if (!CPU_ISSET_S(4 * nibble + bit, bytes, set)) continue;
      digit |= 1U << bit;
      cores.insert(siblings(4 * nibble + bit));
    }
    if (digit != 0 || !own.mask.empty()) own.mask += fmt::format("{:x}", digit);
  }
  own.processors = CPU_COUNT_S(bytes, set);
  own.cores = std::max<int>(1, static_cast<int>(cores.size()));
  CPU_FREE(set);
  return own;
}

}  // namespace tmpi::launch
