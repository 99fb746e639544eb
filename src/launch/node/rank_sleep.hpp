// What sched does for ranks that sleep (privatize/sleep_hooks.hpp), as --sleep has it.
#pragma once

#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

/// Before any rank runs.
void register_sleep_hooks(const JobSpec& job) noexcept;

}  // namespace tmpi::launch
