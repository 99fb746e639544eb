// The kernel's limit on mappings per process (vm.max_map_count), checked before the first image is mapped.
#pragma once

#include "base/result.hpp"
#include "privatize/image_set.hpp"

namespace tmpi::privatize {

/// Failure says how many ranks the limit allows and how to raise it.
Result<void> check_mapping_limit(const ImageSet& set);

}  // namespace tmpi::privatize
