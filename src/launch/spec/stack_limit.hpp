// The limit on stacks (RLIMIT_STACK, ulimit -s) that tmpirun was started under: that of the ranks.
#pragma once

#include <cstddef>

namespace tmpi::launch {

/// Bytes of a rank's stack without --stack-size: what the soft limit says if that is more than the usual 8 MiB, and
/// 64 MiB if there is none.
std::size_t stack_by_limit() noexcept;

}  // namespace tmpi::launch
