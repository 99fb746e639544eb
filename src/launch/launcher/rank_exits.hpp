// RankExits: which ranks have ended by themselves, with which codes, and whether one of them has left a job whose
// others use MPI. (Each node process sees to its own ranks, node_job.hpp, the rules of leaving; here are those of
// different ones.) Bookkeeping only.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tmpi::launch {

class RankExits {
 public:
  /// `node_of`: the node process of each rank; must outlive it.
  explicit RankExits(const std::vector<int>& node_of) : node_of_(node_of), ended_(node_of.size(), false) {}

  /// Ranks have been added to `node_of`.
  void added() { ended_.resize(node_of_.size(), false); }
  /// The last ranks of `node_of` are not there any more: they never were.
  void taken_back() { ended_.resize(node_of_.size()); }
  /// An added rank could not be started.
  void never_began(int rank) { ended_[static_cast<std::size_t>(rank)] = true; }
  bool has_ended(int rank) const { return ended_[static_cast<std::size_t>(rank)]; }

  /// Rank `rank` has ended. `used_mpi`: it has called MPI_Init before.
  void ended(int rank, int code, bool used_mpi);
  /// A rank of node process `node` has called MPI_Init.
  void uses_mpi(int node);

  /// A rank has left without MPI_Init, and on another node process there are ranks that use MPI.
  struct Leaver {
    int rank;
    int code;
  };
  std::optional<Leaver> broken_rule() const;

  /// "rank 3", "ranks 4-7": those of node process `node` that have not ended.
  std::string unfinished_on(int node) const;

  /// Ranks that have ended with a non-zero code, and the first of them in time.
  struct Failed {
    int ranks = 0;
    int first = -1;
    int code = 0;  ///< of the first
  };
  const Failed& failed() const { return failed_; }

 private:
  const std::vector<int>& node_of_;
  std::vector<bool> ended_;            // by rank
  std::vector<int> nodes_with_mpi_;    // in the order in which they have said so
  std::optional<Leaver> before_init_;  // the first rank that has ended without MPI_Init
  Failed failed_;
};

}  // namespace tmpi::launch
