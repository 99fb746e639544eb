// Polling: the ranks of this node process do nothing any more but test and probe in vain, or are blocked in MPI. It
// is what a deadlock is to ranks that wait, but there is no proof: what a rank will do after the next test only its
// program knows. So whatever might be a reason to go on makes it silent.
#pragma once

namespace tmpi::mpi {

/// True if no unfinished rank can have anything else to do than to wait for messages, and none has been sent or
/// received, and no receive posted, since the call with `begins`. False if a rank has threads, is blocked
/// outside MPI, may be waiting for a generalized request, for a signal or a timer, or has read a clock. Called by the
/// poll hook (sched/scheduler.hpp), by one thread at a time; does not suspend.
bool only_polling(bool begins) noexcept;

}  // namespace tmpi::mpi
