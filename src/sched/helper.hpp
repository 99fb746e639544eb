// Helper fibers: work that a rank has started and that goes on without it, as the algorithms of nonblocking
// collectives do. A helper fiber is a task of its own on the rank's worker, with the rank as its owner, so
// what it runs is ordinary blocking code; it is suspended where it waits, and goes on whenever any task of
// the worker reaches a scheduling point. Helper fibers are pooled per worker, never counted as unfinished
// tasks (a worker whose tasks have finished leaves them behind), and not part of Scheduler::tasks(). Their
// stacks are as large as those of ranks, since a user's functions run on them, and committed as far as they
// are touched.
#pragma once

namespace tmpi::sched {

/// Runs `work(argument)` on a helper fiber of the calling task's owner, at once: control comes back to the
/// caller when the helper fiber suspends for the first time or has finished, without anybody else running in
/// between. False: there is no address space for another stack; nothing has been run. Called by a task (a
/// helper fiber is one) only. About 2 switches. The caller is not suspended in the sense of scheduling
/// points: no other rank runs.
[[nodiscard]] bool run_helper(void (*work)(void*), void* argument) noexcept;

/// What the calling helper fiber does from here on belongs on its worker's own thread (`stays`), since it calls the
/// user's functions, whose thread-locals are there; or may be done by another one while that thread computes
/// (attendant.hpp), as when it has begun. May SUSPEND.
void stay_on_worker(bool stays) noexcept;

}  // namespace tmpi::sched
