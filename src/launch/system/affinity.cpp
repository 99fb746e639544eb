#include "launch/system/affinity.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

namespace tmpi::launch {
namespace {

constexpr std::size_t kMostProcessors = 8192;  // the kernel's own limit

// By number; all of the machine if the kernel does not say.
std::vector<bool> allowed_processors() {
  const auto online = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::vector<bool> allowed(kMostProcessors, false);
  cpu_set_t* set = CPU_ALLOC(kMostProcessors);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostProcessors);
  const bool known = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
  for (std::size_t i = 0; i < kMostProcessors; ++i)
    allowed[i] = known ? CPU_ISSET_S(i, bytes, set) != 0 : i < online;
  CPU_FREE(set);
  return allowed;
}

std::string mask_of(const std::vector<bool>& allowed) {
  std::string mask;
  for (std::size_t nibble = allowed.size() / 4; nibble-- > 0;) {
    unsigned digit = 0;
    for (std::size_t bit = 0; bit < 4; ++bit) digit |= allowed[4 * nibble + bit] ? 1U << bit : 0U;
    if (digit != 0 || !mask.empty()) mask += fmt::format("{:x}", digit);
  }
  return mask;
}

// The processors of the same core as the kernel lists them: "0,64"; the same text for all of them.
std::string siblings(std::size_t processor) {
  std::string list;
  std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor)) >>
      list;
  return list.empty() ? std::to_string(processor) : list;
}

}  // namespace

Affinity own_affinity() {
  const std::vector<bool> allowed = allowed_processors();
  Affinity own;
  own.mask = mask_of(allowed);
  own.all_processors = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  own.processors = static_cast<int>(std::ranges::count(allowed, true));
  std::set<std::string> cores;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i]) cores.insert(siblings(i));
  }
  own.cores = static_cast<int>(cores.size());
  return own;
}

std::string own_affinity_mask() {
  return mask_of(allowed_processors());
}

}  // namespace tmpi::launch
