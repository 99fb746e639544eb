// The limit on open descriptors (RLIMIT_NOFILE): a soft limit of 1024 is the usual one, and less than a process of
// many connections or many ranks needs.
#pragma once

#include <sys/resource.h>

namespace tmpi::launch {

/// Raises the soft limit of this process to `needed`, as far as the hard limit lets it; never lowers it. What it
/// starts later inherits that.
void raise_descriptor_limit(rlim_t needed) noexcept;

}  // namespace tmpi::launch
