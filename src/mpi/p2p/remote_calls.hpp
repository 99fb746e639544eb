// RemoteCalls: what point-to-point communication asks of the protocol layer above it (remote/): messages to
// and from ranks of other node processes. Registered when the job has several node processes; with one there
// is no table, and nothing here costs more than a look at a pointer that never changes. Called by ranks;
// nothing here suspends. docs/design/network.md, section Protocols.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/match/message.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// A receive that its sender's node is told of.
struct ReceiveNotice {
  ContextId context = 0;
  int sender = -1;  ///< world ranks; -1: nobody is told
  int receiver = -1;
  int tag = 0;
  MPI_Count capacity = 0;  ///< bytes
};

struct RemoteCalls {
  /// A message to world rank `dest` on another node. True if it has gone, or will, and the buffer is free;
  /// false if it needs a request: start() then.
  bool (*send_now)(const Rank& from, int dest, const MatchKey& key, const Outgoing& data,
                   SendMode mode) noexcept;
  /// The same on behalf of a pending request (buffer, count, type), which completes now or later.
  void (*start)(const Rank& from, Request& request, int dest, const MatchKey& key, const Outgoing& data,
                SendMode mode) noexcept;

  /// Receives a message from elsewhere (Message::place) that has been taken out of the matcher: fills the
  /// receive's outcome. True if the data is there; false if the request, pending, completes when it is.
  bool (*accept)(Request& receive, Message& message) noexcept;

  /// Tries to withdraw a send to another node. The answer comes from there: a request that is done (its
  /// message was buffered) is pending again until then.
  void (*cancel_send)(Request& request) noexcept;

  /// A receive is about to be posted; under the matcher's lock. What is returned goes to announce() when the
  /// lock is open, if there is a sender to be told; and the progress thread is called then.
  ReceiveNotice (*expect)(Request& receive) noexcept;
  void (*announce)(const ReceiveNotice& notice) noexcept;

  /// A posted receive for which expect() was called has been matched, or taken back.
  void (*no_longer_expected)(Request& receive) noexcept;
  /// A receive that has been announced was taken back.
  void (*retract)(const Request& receive) noexcept;

  /// A rank waits for or tests a request whose `started` is set, for the first time. Clears it.
  void (*looked_for)(Request& request) noexcept;

  /// Looks at the network. True if something has happened.
  bool (*poll)() noexcept;
};

namespace detail {
extern const RemoteCalls* g_remote_calls;
}

/// Null while the job has one node process: no rank is remote, no message from elsewhere.
inline const RemoteCalls* remote_calls() noexcept {
  return detail::g_remote_calls;
}

/// A rank waits for this nonblocking operation, or tests it.
inline void note_look(Request& request) noexcept {
  if (const RemoteCalls* const remote = remote_calls(); remote != nullptr && request.started != 0)
      [[unlikely]]
    remote->looked_for(request);
}

/// Before any rank runs; `calls` stays.
void register_remote(const RemoteCalls& calls) noexcept;

}  // namespace tmpi::mpi
