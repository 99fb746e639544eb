// Core: what the sending and the receiving half of the protocol layer have in common. Used under the engine's
// lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>

#include "mpi/remote/backlog.hpp"
#include "mpi/remote/eager_limits.hpp"
#include "mpi/remote/remote.hpp"
#include "mpi/request/wait_list.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {

namespace detail {
extern std::atomic<int> g_expected;  // remote.hpp: expected()
}

/// Requests that are done: completed when the lock is open again, since whoever is told may send.
class Finished {
 public:
  void add(Request& request) noexcept {
    request.next_finished = nullptr;
    (last_ != nullptr ? last_->next_finished : first_) = &request;
    last_ = &request;
  }
  bool empty() const noexcept { return first_ == nullptr; }
  Request* take_all() noexcept {
    Request* const first = first_;
    first_ = last_ = nullptr;
    return first;
  }

 private:
  Request* first_ = nullptr;
  Request* last_ = nullptr;
};

struct Core {
  std::unique_ptr<net::Transport> transport;
  Backlog backlog;
  EagerLimits limits;
  Finished finished;
  WaitList resumed;   ///< those that go on when the lock is open
  Settings settings;  // eager_limit resolved: the base, if limits are dynamic
  ProtocolCounters counters;

  /// A peer has sent something that makes no sense: it is not listened to any longer, and the job ends.
  virtual void complain(int peer, std::string_view what) noexcept = 0;

  /// A message has landed, or a read is done.
  void count_landed() noexcept { ++landed_now; }
  /// Data leaves, and when it has left, more is sent without anybody's message: until then that is like a message
  /// to oneself (Balance).
  void count_leaving(int peer) noexcept { backlog.count(peer); }
  void count_left(int peer) noexcept { left_now += backlog.counts(peer) ? 1 : 0; }
  std::uint64_t landed_now = 0, left_now = 0;  ///< since the lock was taken
  std::atomic<std::uint64_t> landings{0};      ///< whose consequences have been told

  /// How much data of large messages may be posted to a peer at a time, and to be read from it; 0: any (transfer_queue.hpp).
  MPI_Count transfer_depth = 0;
  /// So long it took from asking for a large message to the end of its data.
  void note_transfer(MPI_Count bytes, std::uint64_t ticks) noexcept {
    const double rate = static_cast<double>(bytes) / timers::seconds(std::max<std::uint64_t>(ticks, 1));
    counters.rate = std::max(counters.rate, static_cast<std::uint64_t>(rate));
  }

  /// How much of a large message to post at once.
  MPI_Count piece(MPI_Count rest, bool segmented) const noexcept;

 protected:
  ~Core() = default;
};

}  // namespace tmpi::mpi::remote
