// SentTally: to whom a rank has sent how much, and how large its messages were by the way they took. A message costs a
// few nanoseconds; memory grows with the ranks that it sends to, up to kMostPeers of them. Does not suspend; allocates now
// and then; where there is no memory it counts less, and says so (`others`).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/rank/figures.hpp"

namespace tmpi::observe {

struct MessageSum {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t size) noexcept {
    ++messages;
    bytes += size;
  }
};

/// Class i: sizes whose binary numbers have i digits, from 2^(i-1) to less than 2^i; class 0: no bytes.
using SizeClasses = std::array<MessageSum, 64>;

struct SentTo {
  std::int32_t rank = -1;  ///< in MPI_COMM_WORLD; -1: nobody
  MessageSum sum;
};

class SentTally {
 public:
  using Peer = SentTo;
  static constexpr std::uint32_t kMostPeers = 1024;

  /// By the rank's own flows of control, of which one at a time is inside the library.
  void sent(int to, std::uint64_t bytes) noexcept {
    for (std::uint32_t place = hash(to);; ++place) {
      Peer& peer = places_[place & mask_];
      if (peer.rank == to) [[likely]]
        return peer.sum.add(bytes);
      if (peer.rank < 0) return add(to).add(bytes);
    }
  }
  /// The same, for messages within the node process; for those to others one thread at a time.
  void left(mpi::Departure way, bool elsewhere, std::uint64_t bytes) noexcept {
    std::unique_ptr<SizeClasses>& sizes = (elsewhere ? remote_ : local_)[static_cast<std::size_t>(way)];
    if (sizes == nullptr) [[unlikely]]
      make(sizes);
    if (sizes != nullptr) (*sizes)[static_cast<std::size_t>(std::bit_width(bytes)) & 63].add(bytes);
  }

  template <class Visit>
  void for_each_peer(Visit visit) const {
    for (std::uint32_t i = 0; i <= mask_; ++i) {
      if (places_[i].rank >= 0) visit(places_[i]);
    }
  }
  /// What was sent to ranks for which there was no room.
  const MessageSum& others() const noexcept { return others_; }
  /// Null: none has left so.
  const SizeClasses* sizes(mpi::Departure way, bool elsewhere) const noexcept {
    return (elsewhere ? remote_ : local_)[static_cast<std::size_t>(way)].get();
  }

 private:
  static std::uint32_t hash(int rank) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15u >> 40);
  }
  MessageSum& add(int to) noexcept;
  bool grow() noexcept;
  static void make(std::unique_ptr<SizeClasses>& sizes) noexcept;

  static inline Peer nobody_;  // the table of a rank that has sent nothing: one empty place, never written
  Peer* places_ = &nobody_;
  std::uint32_t mask_ = 0;
  std::uint32_t used_ = 0;
  MessageSum others_;
  // Those that were outgrown stay: when a job is aborted, another thread reads what has been recorded.
  std::vector<std::unique_ptr<Peer[]>> arrays_;
  std::array<std::unique_ptr<SizeClasses>, mpi::kDepartures> local_, remote_;
};

}  // namespace tmpi::observe
