// Deadlock: every rank of the job sleeps, and nothing that could wake one is under way. Called when all
// workers of this node process have slept for a while; nobody runs meanwhile, so everything may be read.
// Whether other node processes sleep too, and whether messages are on their way between them, the launcher
// finds out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

/// True if no rank of this node process can go on by itself: each unfinished one is blocked in MPI on
/// messages or collectives, none has a thread that might call MPI, and none waits for a generalized request.
/// False alarms are worse than silence: whoever waits for anything else makes it false. False, too, if all
/// have finished.
bool stalled();

/// Whom one unfinished rank waits for: its edges in the wait-for graph.
struct RankEdges {
  int rank = 0;
  ContextId collective = 0;  ///< of the communicator in whose collective it takes part; 0: in none
  ContextId awaited = 0;     ///< it waits for all members of that one to take part; 0: for none
  std::vector<int> needs;    ///< world ranks of others, all of whom must act before it goes on
};

/// The wait-for edges of the ranks of a node process.
struct WaitForEdges {
  std::vector<RankEdges> ranks;                   ///< unfinished ones
  std::map<ContextId, std::vector<int>> members;  ///< world ranks, for every `awaited`
  std::string unreceived;                         ///< lines on messages that lie where another one is awaited
};

WaitForEdges wait_for_edges();

/// What a state dump of all ranks cannot say: the cycle of ranks that wait for each other, ranks that wait for
/// one that has finished, messages that lie unreceived where somebody waits for another one. Lines, each
/// ending with a newline. `all`: of every node process of a job of `ranks` ranks; who is not mentioned has
/// finished.
std::string explain_deadlock(const std::vector<WaitForEdges>& all, int ranks);

/// waits_for[i]: whom i waits for, all of whom must act before i goes on. A cycle, each member waiting for
/// the next and the last for the first; the shortest one through the lowest member that is in any. Empty:
/// there is none. O(n * edges).
std::vector<int> find_cycle(const std::vector<std::vector<int>>& waits_for);

}  // namespace tmpi::mpi
