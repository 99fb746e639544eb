// Slots: for how long a rank has had its core without a scheduling point. A thread of the node process looks at the
// workers now and then, where ranks share them; ranks and workers do nothing for it. Who waits for another rank by
// looking at memory over and over never lets that one run: after a second it is said where, once in a job. With --preempt
// the core is taken away from it. docs/design/scheduling.md, "Slots that do not end".
#pragma once

#include "sched/scheduler.hpp"

namespace tmpi::launch {

struct SlotLimits {
  int preempt_milliseconds = 0;  ///< 0: never
  bool quiet = false;            ///< nothing is said
};

/// Once, before the workers run. The scheduler lives as long as the process.
void watch_slots(const sched::Scheduler& scheduler, const SlotLimits& limits) noexcept;

}  // namespace tmpi::launch
