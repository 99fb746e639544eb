// MessageObserver: told of every message between ranks, those of collectives included, when it is sent and
// when it has been matched with its receive. For traces; while nobody listens it costs one load of a variable
// that never changes.
#pragma once

#include "mpi/match/message.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// `key` is what the message is matched by: messages with equal keys to the same rank are received in the
/// order in which they were sent.
struct MessageObserver {
  /// `from`, the calling rank, sends to world rank `to`. Before anybody can match the message.
  void (*sent)(const Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept;
  /// The message has been matched with a receive of `to`: before the receive completes, on the thread that
  /// copies, which may be the sender's.
  void (*received)(const Rank& to, const MatchKey& key, MPI_Count bytes) noexcept;
};

namespace detail {
extern const MessageObserver* g_message_observer;
}

/// Before any rank runs; `observer` stays.
void observe_messages(const MessageObserver& observer) noexcept;

inline void tell_sent(const Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept {
  if (detail::g_message_observer != nullptr) [[unlikely]]
    detail::g_message_observer->sent(from, to, key, bytes);
}
inline void tell_received(const Rank& to, const MatchKey& key, MPI_Count bytes) noexcept {
  if (detail::g_message_observer != nullptr) [[unlikely]]
    detail::g_message_observer->received(to, key, bytes);
}

}  // namespace tmpi::mpi
