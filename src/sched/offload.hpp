// Offloading: a thread of a small pool does what may block the thread it runs on (a system call on a file), while
// the calling task is suspended and the others of its worker run. For calls that end by themselves; those that
// wait for other ranks need a thread each (privatize/offload.hpp). docs/design/scheduling.md.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tmpi::sched {

class Affinity;
class Strand;

namespace detail {
struct OffloadedCall;
void offload(void (*run)(void*) noexcept, void* argument, Strand* strand) noexcept;
/// A call is begun (1), or is over (-1), after what it has woken: one that the pool does not make (file_ring.hpp).
void count_offloaded(int change) noexcept;
}  // namespace detail

/// Runs `call()`, which must not throw, suspend, or look at the calling thread's variables, on a thread of the
/// pool; on this one if none can be had. Returns when it has returned. SUSPENDS. Called by a task; two hand-overs
/// through the kernel, some 20 microseconds. In the order of the calls, as many at a time as the pool has threads, of
/// those with the same `strand` one.
template <class Call>
void offload(Call&& call, Strand* strand = nullptr) noexcept {
  using Bare = std::remove_reference_t<Call>;
  detail::offload([](void* argument) noexcept { (*static_cast<Bare*>(argument))(); },
                  const_cast<void*>(static_cast<const void*>(&call)), strand);
}

/// Calls of which one is made at a time, in their order: offload(call, &strand). The thread that has made one goes on
/// with the next, whatever the workers of those that wait do meanwhile. Lives until the last of its calls has returned.
class Strand {
 public:
  Strand() = default;
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

 private:
  friend class OffloadPool;
  bool busy_ = false;  // a thread has one of its calls, or will
  detail::OffloadedCall* first_ = nullptr;
  detail::OffloadedCall* last_ = nullptr;
};

/// Calls that have been offloaded and have not ended: while there are some, tasks that all wait are no stall, and
/// tasks that all poll no deadlock. Any thread. seq_cst: what a call that is over has woken is visible.
int offloaded() noexcept;

/// Calls that the pool has been given so far; relaxed, a figure. Any thread.
std::uint64_t calls_by_pool() noexcept;

/// Waits until none is, which is soon after the last task has gone on; true then. Not for ever: a call of a rank's
/// thread may never return.
bool await_offloaded() noexcept;

/// Threads that the pool makes from now on may run where this mask says; null: where the caller may. Shared, since the
/// job may end while a thread that has just begun gives itself the mask.
void set_offload_affinity(std::shared_ptr<const Affinity> affinity) noexcept;
/// The calling thread, one of the node process's own, runs where the job's threads may.
void use_offload_affinity() noexcept;
/// What has been set; null.
std::shared_ptr<const Affinity> offload_affinity() noexcept;

}  // namespace tmpi::sched
