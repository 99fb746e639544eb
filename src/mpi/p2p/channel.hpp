// Channels: small messages from the ranks of one worker to those of another.
// Between cores a message costs as many nanoseconds as cache lines travel; looking into the receiver's
// matcher from another core moves six or more of them one after the other. Here the sender writes one line
// that the receiver's worker is looking at, and everything else - matching, copying, waking the fiber - stays
// on the receiver's core.
//
// One ring per ordered pair of workers (p2p/worker_channels.hpp). Messages between two ranks keep their
// order: before a sender goes to the receiver's matcher itself (large and synchronous messages) it delivers
// what lies in the ring. If ranks move (docs/design/load-balance.md), so does a worker before it goes to another worker for the
// same rank, and before one of its own ranks leaves it. docs/design/matching.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/p2p/transfer.hpp"
#include "mpi/p2p/way.hpp"

namespace tmpi::sched {
class Scheduler;
class Waiter;
}  // namespace tmpi::sched

namespace tmpi::mpi {

/// Bytes that may lie buffered at one receiver before senders wait for it, so that one that runs ahead cannot
/// exhaust memory. For channels and for sends to the matcher alike.
inline constexpr std::size_t kMostBuffered = std::size_t{16} << 20;

/// Sets the channels of the process up, for the workers of `scheduler`. Once, before any rank runs.
void connect_workers(sched::Scheduler& scheduler);

/// Sends a message from the calling worker `from` to a rank of worker `to` by `way`, one that goes_by_channel().
/// False if that cannot be done now - no room, no memory, or much lies unexpected at the receiver already - and the
/// caller has to deliver it itself after flush(). Does not suspend.
bool post(int from, int to, Rank& target, const MatchKey& key, const Outgoing& data, Way way) noexcept;

/// Delivers everything that the calling worker `from` has left for worker `to`. False if there is no memory
/// for a message that nobody has posted a receive for: it stays in the channel, and nothing may be sent past
/// it (MPI_ERR_NO_MEM). The receiver's worker tries again at its switches: it needs none once the receive is
/// posted. Does not suspend.
[[nodiscard]] bool flush(int from, int to) noexcept;

enum class Followed : std::uint8_t {
  kYes,
  kUnnoted,  ///< there is no memory to note where it goes now: it must not be left in a channel
  kNo,       ///< as flush()
};

/// The same before rank `target` is sent something by another way than last time, where ranks move: delivers what worker
/// `from` has left for it where it was then, unless that is worker `to`, where it is now (-1: unknown).
[[nodiscard]] Followed follow(int from, int to, const Rank& target) noexcept;

/// Where ranks move: worker `to` would look at what is left for it only after it has computed for long.
bool computes(int to) noexcept;

/// Takes in what other workers have left for the calling one, `worker`, as it does at every switch; true if there was
/// something. -1: takes nothing in. Does not suspend.
bool take_in(int worker) noexcept;

/// The same for a rank of that worker that waits for `waiter`: no more than until that is over, so that
/// what is behind need not be left as unexpected. True if it is. The waiter must have no more completers than events: then
/// nobody else touches it afterwards. Does not suspend.
bool take_in_for(const sched::Waiter& waiter, int worker) noexcept;

/// Workers for whom there is a message that could not be taken in for want of memory when that was last tried.
/// For the report on a job whose ranks all wait. Any thread.
int workers_without_memory() noexcept;

}  // namespace tmpi::mpi
