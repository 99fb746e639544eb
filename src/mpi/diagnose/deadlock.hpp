// Deadlock: every rank of this node process sleeps, and nothing that could wake one is under way. Called when
// all workers have slept for a while; nobody runs meanwhile, so everything may be read.
#pragma once

#include <string>
#include <vector>

namespace tmpi::mpi {

/// True if no rank can ever go on: each unfinished one is blocked in MPI on messages or collectives, none has
/// a thread that might call MPI, and none waits for a generalized request. False alarms are worse than
/// silence: whoever waits for anything else makes it false.
bool deadlocked();

/// What `picture` of all ranks cannot say: the cycle of ranks that wait for each other, ranks that wait for
/// one that has finished, messages that lie unreceived where somebody waits for another one. Lines, each
/// ending with a newline.
std::string explain_deadlock();

/// waits_for[i]: whom i waits for, all of whom must act before i goes on. A cycle, each member waiting for
/// the next and the last for the first; the shortest one through the lowest member that is in any. Empty:
/// there is none. O(n * edges).
std::vector<int> find_cycle(const std::vector<std::vector<int>>& waits_for);

}  // namespace tmpi::mpi
