// What it costs who computes that a progress thread is woken on the core: switches there and back, and the timer, which a
// virtual machine has to leave for. From some microseconds to 50, as the machine is. docs/design/advice.md.
#pragma once

namespace tmpi::sched {

/// Seconds; 0 if it cannot be measured. Computes for some 40 ms, on one of the caller's cores. Not on a worker.
double wake_up_cost() noexcept;

}  // namespace tmpi::sched
