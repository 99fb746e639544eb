// Placement: which node process runs which rank of the job. The same in all node processes. Decided by the
// launcher (--nodes, --host, --map-by); the MPI library only reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tmpi::mpi {

class Placement {
 public:
  /// All `ranks` ranks on one node process.
  explicit Placement(int ranks = 1, std::string host = "localhost") : size_(ranks), hosts_{std::move(host)} {}

  /// node_of[world rank] = number of its node process; hosts[node] = the name of the machine it runs on.
  /// `node` is this process's number.
  Placement(std::vector<int> node_of, std::vector<std::string> hosts, int node)
      : size_(static_cast<int>(node_of.size())),
        node_(node),
        node_of_(std::move(node_of)),
        hosts_(std::move(hosts)) {}

  int size() const noexcept { return size_; }
  int nodes() const noexcept { return static_cast<int>(hosts_.size()); }
  int node() const noexcept { return node_; }  ///< of this process
  int node_of(int world_rank) const noexcept {
    return node_of_.empty() ? 0 : node_of_[static_cast<std::size_t>(world_rank)];
  }
  const std::string& host_of_node(int node) const noexcept { return hosts_[static_cast<std::size_t>(node)]; }

  /// Node processes on one machine have one number, on different machines different ones: that of the first
  /// node there. O(nodes).
  int machine_of_node(int node) const noexcept {
    int first = 0;
    while (hosts_[static_cast<std::size_t>(first)] != hosts_[static_cast<std::size_t>(node)]) ++first;
    return first;
  }
  bool one_machine() const noexcept {
    for (int node = 0; node < nodes(); ++node) {
      if (machine_of_node(node) != 0) return false;
    }
    return true;
  }

  /// World ranks of node `node`, ascending. O(ranks).
  std::vector<int> ranks_of(int node) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < size_; ++rank) {
      if (node_of(rank) == node) ranks.push_back(rank);
    }
    return ranks;
  }

 private:
  int size_ = 1;
  int node_ = 0;
  std::vector<int> node_of_;  // empty: all on node 0
  std::vector<std::string> hosts_;
};

namespace detail {
extern const Placement* g_placement;  // set by Job::create()
}

/// The job's. Once there is a job.
inline const Placement& placement() noexcept {
  return *detail::g_placement;
}

}  // namespace tmpi::mpi
