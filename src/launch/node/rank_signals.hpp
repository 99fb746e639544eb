// What sched does for the signals of ranks (privatize/rank_signals.hpp).
#pragma once

#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Before any rank runs.
void register_signal_hooks(sched::Scheduler& scheduler) noexcept;

}  // namespace tmpi::launch
