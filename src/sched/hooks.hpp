// Hooks: what those who use the scheduler register with it (scheduler.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arming.hpp"

namespace tmpi::sched {

struct Task;

/// Called on the worker's thread around every switch (from or to is null when nothing runs on that side: the
/// worker idles, starts or ends), just before control passes on, on the stack of the side that is left. Must
/// not suspend, throw or allocate. Used for timers and the loader.
using SwitchHook = void (*)(Task* from, Task* to) noexcept;

/// The same with the time of the switch (timers::now_ticks()), read once for everybody who wants it: for
/// profiles and traces. Costs every switch a reading of the clock (metering.hpp).
using SwitchObserver = void (*)(Task* from, Task* to, std::uint64_t ticks) noexcept;

/// A source of events outside the process: the network. Workers look there all the time while they idle, and
/// at a switch: about every 2 microseconds while something is `expected` from it, else every 20. One of the
/// workers that sleep, the watcher, sleeps where it is woken by the source too. docs/design/scheduling.md.
struct EventSource {
  /// Makes progress; true if there was any. Any worker's thread, several at a time. May make tasks ready.
  bool (*poll)() noexcept = nullptr;
  /// What the watcher has to watch; whatever happens after the call shows there. `patient`: who asks would
  /// rather be woken a little late than stay awake for what comes soon. Called when the watcher has left its worker:
  /// makes no task ready.
  Arming (*arm)(bool patient) noexcept = nullptr;
  /// How much is on its way here, or may be: receives and transfers that wait for other processes. A hint,
  /// relaxed.
  const std::atomic<int>* expected = nullptr;
};

/// Takes in what other workers have left for the ranks of `worker` outside its inbox (the MPI layer's
/// channels); true if there was something. Called on the worker's thread at every switch, while it idles, and
/// once more between announcing sleep and sleeping; must then see (seq_cst) what was left before
/// wake_if_parked(worker), by a store as set_drain_hook() says. May make tasks ready.
using DrainHook = bool (*)(int worker) noexcept;

/// All workers have slept for kStallPeriod, and nothing has been left for any of them: only an event from
/// outside (a thread that is no worker) can wake the process. Called once for each time that all have fallen
/// asleep, on one worker's thread; tasks do not run meanwhile unless such an event comes. With an event
/// source the process is only as quiet as that: what other processes do, or what is on its way, the hook has
/// to find out.
using StallHook = void (*)() noexcept;
inline constexpr std::uint64_t kStallPeriod = 250'000'000;  // ns

/// interrupt() has been called for `task`: called on its own flow of control, inside, between being suspended
/// and going on. Must not suspend.
using InterruptHook = void (*)(Task& task) noexcept;
/// Every task that has not finished is blocked or polls in a tight loop (yield_polling()), and nothing else has been
/// switched to, for `periods` (of a second, unless a test says otherwise): called about once a period, with 0 first, as
/// long as that is so and the hook returns true; false begins anew. On the thread of a worker, in a poll of its running
/// task; the others go on polling meanwhile. What happens without a switch the hook has to find out.
using PollHook = bool (*)(int periods) noexcept;

/// Of a piece of memory that is one task's alone.
using UseMemory = void (*)(void* context, void* begin, std::size_t bytes) noexcept;

/// Calls use(context, ...) for all memory of the task beside its stack. Any worker; must not suspend.
using MemoryHook = void (*)(const Task& task, UseMemory use, void* context) noexcept;

/// Moves each of these pages that is not on its NUMA node of `nodes` yet, as far as it exists and belongs to this process
/// alone. False: the system does not do that at all.
using MoveMemory = bool (*)(std::span<void*> pages, std::span<const int> nodes) noexcept;

/// By one call of libnuma's numa_move_pages (move_pages(2)): each may have all CPUs of the machine empty their lists of pages first. At most
/// kMovedAtOnce pages.
bool move_by_kernel(std::span<void*> pages, std::span<const int> nodes) noexcept;

}  // namespace tmpi::sched
