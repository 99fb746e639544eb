// Where a frame was to end that did not fit. Code compiled with -fstack-clash-protection touches the pages of a large
// frame one after the other, so a fault shows the first that is missing; the loop knows the last.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace tmpi::launch {

/// The address that the interrupted loop goes down to; 0: it is no such loop. Async-signal-safe.
std::uintptr_t end_of_probed_frame(const ucontext_t& context) noexcept;

}  // namespace tmpi::launch
