// What point-to-point communication (p2p/) asks of the protocol layer: messages to and from ranks of other
// node processes. Called by ranks; nothing here suspends. docs/network.md, section Protocols.
#pragma once

#include <atomic>

#include "mpi/match/message.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/remote/wire.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi::remote {

namespace detail {
extern bool g_active;                // several node processes; written before any rank runs
extern std::atomic<int> g_expected;  // remote.hpp: expected()
}  // namespace detail

/// A message to world rank `dest` on another node. True if it has gone, or will, and the buffer is free;
/// false if it needs a request: start() then.
bool send_now(const Rank& from, int dest, const MatchKey& key, const Outgoing& data, SendMode mode) noexcept;
/// The same on behalf of a pending request (buffer, count, type), which completes now or later.
void start(const Rank& from, Request& request, int dest, const MatchKey& key, const Outgoing& data,
           SendMode mode) noexcept;

/// Receives a message from elsewhere (Message::place) that has been taken out of the matcher: fills the
/// receive's outcome. True if the data is there; false if the request, pending, completes when it is.
bool accept(Request& receive, Message& message) noexcept;

/// Tries to withdraw a send to another node. The answer comes from there: a request that is done (its message
/// was buffered) is pending again until then.
void cancel_send(Request& request) noexcept;

/// A receive is about to be posted; under the matcher's lock, if g_active. True if it had better be announced
/// to the sender's node afterwards.
bool expect(Request& receive) noexcept;
Announce announcement_for(const Request& receive) noexcept;
void announce(const Announce& announcement) noexcept;

/// A posted receive for which expect() was called has been matched, or taken back.
void no_longer_expected(Request& receive) noexcept;
/// A receive that has been announced was taken back.
void retract(const Request& receive) noexcept;

}  // namespace tmpi::mpi::remote
