// Brings the loader, which starts the threads of ranks, and the scheduler together.
#pragma once

namespace tmpi::launch {

/// Once, before any rank runs.
void register_thread_hooks() noexcept;

}  // namespace tmpi::launch
