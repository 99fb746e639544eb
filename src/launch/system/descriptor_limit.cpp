#include "launch/system/descriptor_limit.hpp"

#include <algorithm>

namespace tmpi::launch {
void raise_descriptor_limit(rlim_t needed) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(limit.rlim_max, needed);
  setrlimit(RLIMIT_NOFILE, &limit);  // what cannot be had is told where a descriptor is missing
}

}  // namespace tmpi::launch
