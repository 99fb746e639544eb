// The transport over adapters that are a part of the test (fake_adapter.hpp), as the conformance suite's nodes take it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "net/conformance.hpp"
#include "net/verbs/fake_adapter.hpp"
#include "net/verbs/rails.hpp"

namespace tmpi::net::verbs::fake {

inline conformance::Subject over_fake(const std::string& settings = {}) {
  conformance::Subject subject;
  subject.spec = "verbs:" + settings;
  subject.processes = false;
  subject.largest = std::min<std::size_t>(conformance::kLargest, 8 << 20);
  subject.make = [settings](const Options& options, Sink& sink) {
    return create(api(), settings, options, sink);
  };
  return subject;
}

// Nothing has ever gone wrong that credits and sizes of queues are there to prevent, and all memory is given back.
inline void check_world() {
  CHECK(world().frames_without_buffer == 0);
  CHECK(world().overflows == 0);
  CHECK(world().memory.empty());
  CHECK(world().pairs.empty());
  CHECK(world().windows.empty());
}

}  // namespace tmpi::net::verbs::fake
