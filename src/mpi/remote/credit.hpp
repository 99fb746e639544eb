// Credit: bounds what eager messages take of the memory at their destination while nobody receives them. The
// sender's node counts, for each destination rank, what it has sent there and has not been told to have left
// the receiver's memory; beyond a limit a message asks first (RTS), which holds no memory and so never blocks
// anybody. The receiver's node returns credit in batches. One word per destination rank here, one per local
// rank and peer there, from the first message on. docs/design/network.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::mpi::remote {

/// What a message costs: its data, and what keeps it.
constexpr std::uint64_t cost_of(MPI_Count bytes) noexcept {
  return static_cast<std::uint64_t>(bytes) + 192;
}

/// The sender's side. Used under the engine's lock.
class Allowance {
 public:
  void use(int ranks) { outstanding_.assign(static_cast<std::size_t>(ranks), 0); }
  /// False: too much is under way to this rank, of which `limit` may be.
  bool charge(int dest, MPI_Count bytes, std::uint64_t limit) {
    std::uint64_t& outstanding = of(dest);
    if (outstanding + cost_of(bytes) > limit) return false;
    outstanding += cost_of(bytes);
    return true;
  }
  /// The receiver's node returns credit. False if it never had that much.
  bool returned(int dest, std::uint64_t cost) noexcept {
    std::uint64_t* const outstanding = find(dest);
    if (outstanding == nullptr || cost > *outstanding) return false;
    *outstanding -= cost;
    return true;
  }

 private:
  std::uint64_t& of(int dest) {
    if (std::uint64_t* const known = find(dest)) [[likely]]
      return *known;
    if (of_other_job(dest)) return elsewhere_[dest];
    outstanding_.resize(static_cast<std::size_t>(dest) + 1);  // of a rank that was spawned
    return outstanding_.back();
  }

  // Null: nothing has ever been sent there.
  std::uint64_t* find(int dest) noexcept {
    if (dest < 0) return nullptr;
    if (static_cast<std::size_t>(dest) < outstanding_.size()) [[likely]]
      return &outstanding_[static_cast<std::size_t>(dest)];
    const auto found = elsewhere_.find(dest);
    return found != elsewhere_.end() ? &found->second : nullptr;
  }

  std::vector<std::uint64_t> outstanding_;  // by world rank
  std::unordered_map<int, std::uint64_t> elsewhere_;
};

/// The receiver's side.
class Owed {
 public:
  /// What is owed to each of `peers` is returned when it has come to `batch`.
  struct Batches {
    int peers;
    std::uint64_t batch;
  };
  /// The job's own node processes, and those of others, whose senders know nothing of this job's settings.
  void use(Batches own, Batches others, int local_ranks) {
    own_ = own;
    others_ = others;
    local_ranks_ = static_cast<std::size_t>(local_ranks);
    owed_.resize(static_cast<std::size_t>(own.peers) + static_cast<std::size_t>(others.peers));
  }
  /// Before the first add() for this peer, under the engine's lock.
  void prepare(int peer) {
    auto& owed = owed_[static_cast<std::size_t>(peer)];
    if (owed == nullptr) [[unlikely]]
      owed = std::make_unique<std::atomic<std::uint64_t>[]>(local_ranks_);
  }
  /// A message of this cost has left the memory of a local rank. What is to be returned to the peer now, else
  /// 0. Any thread. Relaxed: only the sum matters.
  std::uint64_t add(int peer, int local_rank, std::uint64_t cost) noexcept {
    std::atomic<std::uint64_t>& owed =
        owed_[static_cast<std::size_t>(peer)][static_cast<std::size_t>(local_rank)];
    const std::uint64_t batch = peer < own_.peers ? own_.batch : others_.batch;
    if (owed.fetch_add(cost, std::memory_order_relaxed) + cost < batch) return 0;
    return owed.exchange(0, std::memory_order_relaxed);
  }

 private:
  Batches own_{}, others_{};
  std::size_t local_ranks_ = 0;
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>[]>> owed_;  // by peer, then by local rank
};

}  // namespace tmpi::mpi::remote
