// EagerPolicy: which eager limit would suit the messages between this node and each of the others (`--eager-limit
// dynamic`; Subramoni et al., sections 3.1, 3.2 and 4.4). The same for every transport: it sees messages and times,
// nothing else. docs/design/eager-limit.md.
//
// A larger limit pays where a program computes between a nonblocking call and its wait: a message that asks first then
// moves only when a CPU looks. Used under the engine's lock, but for looked_for() and blocked_for(), which any
// thread calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "mpi.h"

namespace tmpi::mpi::remote {

class EagerPolicy {
 public:
  /// Added to a power of two, for messages that fill it and a header.
  static constexpr MPI_Count kOffset = 1024;
  /// No limit is made larger: eight pieces of a large message's way, a receive buffer of a megabyte.
  static constexpr MPI_Count kMost = (MPI_Count{1} << 20) + kOffset;
  /// What a message brings with it in a receive buffer (the paper's packet header).
  static constexpr MPI_Count kHeader = 32;

  /// 2^ceil(log2(bytes / messages)) + kOffset; `bytes` with headers.
  static MPI_Count limit_for(std::uint64_t bytes, std::uint64_t messages) noexcept;

  /// `base`: the limit of all pairs at the start, below which none goes. `release`: ticks without a message above
  /// `base` after which a pair goes back there. `copying`: ticks that copying a byte takes.
  void use(int nodes, MPI_Count base, std::uint64_t release, double copying);

  /// A message of more than the limit asks first; either direction.
  void asked(int peer, MPI_Count bytes) noexcept;
  /// What a rank that looks for its nonblocking operation at once would have waited: so many ticks from the word that
  /// the receive is there until so many bytes have moved.
  void moved(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept;
  /// The word that the receive is there has come, or so many bytes have been read (`moved` > 0), so many ticks after a
  /// message of `bytes` has asked. The shortest counts: others have waited for a CPU, or for the receive.
  void answered(int peer, MPI_Count bytes, MPI_Count moved, std::uint64_t ticks) noexcept;
  /// A rank has waited for or tested a nonblocking operation of more bytes than `base` for the first time, `ticks`
  /// after the last start of one. Any thread.
  void looked_for(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept;
  /// The same of a blocking call: at once. (Not of pairs that have no more than `base`: it is no reason against a larger
  /// limit.)
  void blocked_for(int peer) noexcept { count_look(peer, false); }
  /// Whether this node's ranks compute between start and wait: at least a quarter of their looks come late. `unknown`
  /// if there are too few to tell.
  bool computes(int peer, bool unknown) const noexcept { return peers_[peer].computes(unknown); }
  /// The other node has said the same of its ranks.
  void set_peer_computes(int peer, bool computes) noexcept { peers_[peer].peer_computes = computes; }
  /// An eager message of more than `base` bytes has been sent or has come.
  void used(int peer, std::uint64_t now) noexcept { peers_[peer].used = now; }
  /// The pair has another limit from now on.
  void changed(int peer, MPI_Count limit, std::uint64_t now) noexcept;

  /// By the formula, from the pair's messages that asked first; 0: there were none. Whether a change would pay or not.
  MPI_Count suggestion(int peer) const noexcept;
  /// The limit that the pair had better have, larger than what it has: by the formula, if at least half of the
  /// program's looks came late, half of the time of a transfer after the start or more. 0: leave it.
  MPI_Count larger_limit(int peer) const noexcept;
  /// Whether a message between `base` and the pair's limit, which is about to be sent, had better go unasked. If this
  /// node's ranks compute, or nothing is known of that yet, or the other's have said that they do. Else if asking takes
  /// longer than two copies, by way of receive buffers; how long that is, the first 8 find out that ask while ranks of
  /// neither node compute.
  bool pays(int peer, MPI_Count bytes) const noexcept;
  /// Nothing above `base` has come by for so long that the pair's buffers had better be released. The time doubles
  /// with each limit that was made larger again (the paper's weights), sixteenfold at most: phases of a program that
  /// come again and again find their buffers.
  bool unused(int peer, std::uint64_t now) const noexcept;

 private:
  static constexpr std::uint64_t kMessages = 4;  // before anything is concluded from them
  static constexpr std::uint64_t kForget = 64;   // messages whose weight is halved
  static constexpr std::uint64_t kAnswers =
      8;  // the first ones stand behind what the other node still sends unasked
  static constexpr std::uint32_t kLooks = 16;  // looks whose weight is halved

  void count_look(int peer, bool late) noexcept;

  struct Peer {
    MPI_Count limit = 0;
    std::uint64_t messages = 0, bytes = 0;  // that asked first
    std::uint64_t used = 0;
    unsigned raised = 0;
    // Relaxed: statistics; a lost count does not matter.
    std::atomic<double> ticks_per_byte{0};
    double asking = std::numeric_limits<double>::infinity();  // ticks
    std::uint64_t answers = 0;  // that came while nobody computed, up to kAnswers
    std::atomic<std::uint32_t> looks{0}, late{0};
    bool peer_computes = false;

    bool computes(bool unknown) const noexcept {
      const std::uint32_t n = looks.load(std::memory_order_relaxed);
      return n < kMessages ? unknown : 4 * late.load(std::memory_order_relaxed) >= n;
    }
    bool somebody_computes() const noexcept { return peer_computes || computes(true); }
  };

  MPI_Count base_ = 0;
  std::uint64_t release_ = 0;
  double copying_ = 0;
  std::unique_ptr<Peer[]> peers_;
};

}  // namespace tmpi::mpi::remote
