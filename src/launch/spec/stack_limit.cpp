#include "launch/spec/stack_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kWithoutLimit = 64 << 20;

}  // namespace

std::size_t stack_by_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return kDefaultStack;
  if (limit.rlim_cur == RLIM_INFINITY) return kWithoutLimit;
  return std::clamp<std::size_t>(limit.rlim_cur, kDefaultStack, kMostStack);
}

}  // namespace tmpi::launch
