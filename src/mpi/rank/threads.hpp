// Who calls: a rank's own flow of control, or a thread that the rank has created. MPI report, 11.6.
// docs/design/threads.md.
#pragma once

#include "mpi/rank/rank.hpp"
#include "sched/thread_task.hpp"

namespace tmpi::mpi {

/// The rank to which the calling thread belongs, whether it may call MPI or not; null if there is none (yet), and
/// in a child that a rank has forked.
/// Any thread, inside a call or not. Does not suspend.
Rank* calling_rank() noexcept;

namespace detail {
sched::Task* thread_flow() noexcept;
}

/// The task of the calling flow of control; null if it must not call MPI now: no rank, or a thread of a rank
/// that has not asked for MPI_THREAD_SERIALIZED or more. Does not suspend.
inline sched::Task* calling_flow() noexcept {
  sched::Task* task = sched::current();
  return task != nullptr ? task : detail::thread_flow();
}

/// The same for the tools interface, which may be called at any time, in any phase; null: a thread of a rank that has asked
/// for MPI_THREAD_SERIALIZED neither there nor of MPI, which is then not kept out of others' way. Does not suspend.
sched::Task* calling_tool_flow() noexcept;

/// True on the rank's own flow of control, false on threads that it has created.
bool is_main_flow() noexcept;

/// The calling rank's first thread is about to start; on the rank's own flow, in user code.
void thread_created(Rank& rank) noexcept;

/// Lets threads of the calling rank in if it has any and its thread level allows it. Called when either
/// changes, by the rank's own flow.
void admit_threads(Rank& rank) noexcept;

/// Threads of the calling rank may call the tools interface at any time from now on. On the rank's own flow.
void admit_tools(Rank& rank) noexcept;

}  // namespace tmpi::mpi
