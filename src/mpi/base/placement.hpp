// Placement: which node process runs which rank of the job. The same in all node processes. Decided by the
// launcher (--nodes, --host, --map-by); the MPI library only reads it. Ranks that are spawned later (docs/design/dynamic-processes.md)
// are added behind the others; ranks of other jobs, which this one is connected with, and their node processes are
// numbered behind all of these (other_jobs.hpp).
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/base/other_jobs.hpp"

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
        hosts_(std::move(hosts)),
        added_(std::make_shared<Added>()) {}

  /// Ranks that the job began with: those of tmpirun's MPI_COMM_WORLD.
  int size() const noexcept { return size_; }
  int nodes() const noexcept { return static_cast<int>(hosts_.size()); }
  /// With those of other jobs. Any thread; rises.
  int all_nodes() const noexcept { return nodes() + other_jobs().nodes(); }
  int node() const noexcept { return node_; }  ///< of this process
  int node_of(int world_rank) const noexcept {
    if (of_other_job(world_rank)) [[unlikely]]
      return other_jobs().node_of(world_rank);
    if (node_of_.empty()) return 0;
    return world_rank < size_ ? node_of_[static_cast<std::size_t>(world_rank)]
                              : added_->node_of(world_rank - size_);
  }
  /// Ranks `first`, `first` + 1, ... live on these node processes. Before anybody asks for them; any thread, not in
  /// parallel.
  void add(int first, const std::vector<int>& node_of) {
    if (added_ == nullptr) return;  // one node process
    for (std::size_t i = 0; i < node_of.size(); ++i)
      added_->set(first - size_ + static_cast<int>(i), node_of[i]);
  }
  static constexpr int kMostAdded = 65536;  ///< ranks beyond size(), in all
  /// That a job begins with (tmpirun's -n).
  static constexpr int kMostBegun = 1'000'000;
  static_assert(kMostBegun + kMostAdded <= kMostRanks, "numbers of own ranks are below those of other jobs'");

  /// Other jobs are on this machine.
  const std::string& host_of_node(int node) const noexcept {
    return hosts_[static_cast<std::size_t>(node < nodes() ? node : node_)];
  }

  /// Node processes on one machine have one number, on different machines different ones: that of the first
  /// node there. O(nodes).
  int machine_of_node(int node) const noexcept {
    int first = 0;
    while (host_of_node(first) != host_of_node(node)) ++first;
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
  // Where added ranks live, in chunks that are made when they are needed. Release and acquire: a chunk is complete.
  class Added {
   public:
    ~Added() {
      for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
    }
    int node_of(int index) const noexcept {
      const Chunk* chunk = chunks_[static_cast<std::size_t>(index / kChunk)].load(std::memory_order_acquire);
      return (*chunk)[static_cast<std::size_t>(index % kChunk)].load(std::memory_order_relaxed);
    }
    void set(int index, int node) {
      std::atomic<Chunk*>& place = chunks_[static_cast<std::size_t>(index / kChunk)];
      if (place.load(std::memory_order_relaxed) == nullptr)
        place.store(new Chunk{}, std::memory_order_release);
      (*place.load(std::memory_order_relaxed))[static_cast<std::size_t>(index % kChunk)].store(
          node, std::memory_order_relaxed);
    }

   private:
    static constexpr int kChunk = 256;
    using Chunk = std::array<std::atomic<int>, kChunk>;
    std::array<std::atomic<Chunk*>, kMostAdded / kChunk> chunks_{};
  };

  int size_ = 1;
  int node_ = 0;
  std::vector<int> node_of_;  // empty: all on node 0
  std::vector<std::string> hosts_;
  std::shared_ptr<Added> added_;  // null: one node process
};

namespace detail {
extern const Placement* g_placement;  // set by Job::create()
}

/// The job's. Once there is a job.
inline const Placement& placement() noexcept {
  return *detail::g_placement;
}

}  // namespace tmpi::mpi
