// One UnmapWatch for the registrations of several adapters: the system lets only one descriptor watch a page. Each
// gets a view of its own, which tells it everything that has gone; a range is watched as long as one of them wants it.
// One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "net/verbs/unmap_watch.hpp"

namespace tmpi::net::verbs {

/// `count` views of `watch`, which they share; null each, if it is null.
std::vector<std::unique_ptr<UnmapWatch>> share_watch(std::unique_ptr<UnmapWatch> watch, int count);

}  // namespace tmpi::net::verbs
