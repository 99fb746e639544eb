// EagerLimits: up to which size messages between this node and each other one travel unasked. One number for all
// (`--eager-limit SIZE`), or one per peer that changes with what the program does (`--eager-limit dynamic`): the policy
// says to what, LimitSwitch how, and the transport's Reconnection provides connections with receive buffers of that
// size. Used under the engine's lock, but for of(), looked_for() and blocked_for(). docs/design/eager-limit.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "mpi/remote/backlog.hpp"
#include "mpi/remote/eager_policy.hpp"
#include "mpi/remote/limit_switch.hpp"
#include "mpi/remote/protocol_counters.hpp"
#include "net/transport.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {

class EagerLimits {
 public:
  /// `release_seconds`: of `--eager-limit dynamic`; 0: all limits stay `base`. Those to peers from `nodes` on, which
  /// are of other jobs, do in any case.
  void use(Backlog& backlog, net::Transport& transport, int node, int nodes, int peers, MPI_Count base,
           double release_seconds);

  bool dynamic() const noexcept { return pairs_ != nullptr; }
  /// The limit of all pairs, or with which they begin.
  MPI_Count base() const noexcept { return base_; }
  /// The limit of the pair now. Any thread; relaxed: who sends knows it for sure, since it holds the lock.
  MPI_Count of(int peer) const noexcept {
    return pairs_ == nullptr ? base_ : pairs_[peer].limit.load(std::memory_order_relaxed);
  }
  /// Whether a message that is about to be sent goes unasked: always up to the base, up to the pair's limit while that
  /// pays.
  bool unasked(int peer, MPI_Count bytes) const noexcept {
    return bytes <= base_ || (bytes <= of(peer) && policy_.pays(peer, bytes));
  }

  // What the protocols see. Nothing happens unless limits are dynamic.

  /// A message asks first, and may be a reason for another limit.
  void asked(int peer, MPI_Count bytes);
  /// An eager message is sent, or has come.
  void travelled(int peer, MPI_Count bytes) noexcept {
    if (bytes > base_ && dynamic()) policy_.used(peer, timers::now_ticks());
  }
  /// A message that asks, or an eager one, has come: if this node's ranks compute, or do so no longer, its sender is
  /// told.
  void came(int peer, MPI_Count bytes) noexcept {
    if (bytes > base_ && of(peer) > base_) tell_computing(peer);
  }
  void moved(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept {
    if (dynamic()) policy_.moved(peer, bytes, ticks);
  }
  /// So long after it asked a message of `bytes` was answered, by the word that it is awaited (moved = 0) or by so many
  /// bytes having been read.
  void answered(int peer, MPI_Count bytes, MPI_Count moved, std::uint64_t ticks) noexcept {
    if (dynamic()) policy_.answered(peer, bytes, moved, ticks);
  }
  /// Any thread.
  void looked_for(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept {
    if (dynamic()) policy_.looked_for(peer, bytes, ticks);
  }
  /// A rank sends or receives by a blocking call, or receives from anywhere: a reason not to use a raised limit, and not
  /// to raise it further. Any thread.
  void blocked_for(int peer, MPI_Count bytes) noexcept {
    if (bytes > base_ && of(peer) > base_) policy_.blocked_for(peer);
  }

  /// What has come from the peer. False: that makes no sense.
  bool on_change(int peer, const LimitChange& change);
  bool on_computing(int peer, bool now) noexcept;

  /// Now and then: releases what nobody has used for long.
  void poll() {
    if (dynamic()) release_unused();
  }

  void count(ProtocolCounters& counters) const noexcept;

 private:
  class Ports;
  struct Pair {
    std::atomic<MPI_Count> limit{0};
    LimitSwitch change;
    bool told_computing = false;  // what the peer has been told last
  };
  void release_unused();
  void tell_computing(int peer) noexcept;

  Backlog* backlog_ = nullptr;
  net::Transport* transport_ = nullptr;
  int nodes_ = 0;
  int node_ = 0;
  MPI_Count base_ = 0;
  std::unique_ptr<Pair[]> pairs_;  // by peer; null: fixed
  EagerPolicy policy_;
  std::uint64_t period_ = 0, looked_ = 0;  // ticks
  int above_ = 0;                          // pairs with more than the base
  std::uint64_t raised_ = 0, lowered_ = 0, refused_ = 0;
  MPI_Count largest_ = 0;
};

}  // namespace tmpi::mpi::remote
