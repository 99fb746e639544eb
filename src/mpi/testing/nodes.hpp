// For unit tests of what happens between nodes: forks node processes on this machine and runs ranks in each,
// with a real network between them and without a launcher.
#pragma once

#include <functional>
#include <string>

#include "mpi/rank/rank.hpp"
#include "mpi/remote/instance.hpp"
#include "mpi/remote/remote.hpp"
#include "sched/progress.hpp"

namespace tmpi::mpi::testing {

struct NodesOptions {
  int nodes = 2;
  int ranks = 4;
  int workers = 1;  ///< per node process
  std::string net = "tcp";
  remote::Settings settings;
  sched::Progress progress = sched::Progress::kPoll;
  bool cyclic = true;  ///< rank r on node r % nodes; else in blocks
  int seconds = 100;   ///< until what has not ended hangs, on however busy a machine
  remote::Engine::MakeTransport make = net::create_transport;
  /// Who is told of a lost node; null: the test fails.
  remote::Engine::Lost lost = nullptr;
  /// In each node process, when all its ranks have finished.
  void (*finally)() = nullptr;
};

/// A number of ranks on node processes with a modelled wire between them.
inline NodesOptions on_sim(int nodes, int ranks, int workers, bool cyclic) {
  return {.nodes = nodes, .ranks = ranks, .workers = workers, .net = "sim", .settings = {}, .cyclic = cyclic};
}

/// Runs `body` once per rank, between MPI_Init and MPI_Finalize. Checks of doctest that fail
/// in a node process, its death, and running out of time fail the calling test.
void run_nodes(const NodesOptions& options, const std::function<void(Rank&)>& body);

}  // namespace tmpi::mpi::testing
