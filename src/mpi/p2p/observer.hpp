// MessageObserver: told of every message between ranks, those of collectives included, when it is sent, when it
// is known which way it takes, and when it has been matched with its receive. For traces, profiles and the tools
// interface; while nobody listens it costs a message two loads of a variable that hardly ever changes.
#pragma once

#include <atomic>

#include "mpi/match/message.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// `key` is what the message is matched by: messages with equal keys to the same rank are received in the
/// order in which they were sent. Functions may be null. None may suspend, but `sent` may call the program.
struct MessageObserver {
  /// `from`, the calling rank, sends to world rank `to`. Before anybody can match the message.
  void (*sent)(Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept = nullptr;
  /// The message has been matched with a receive of `to`: before the receive completes, on the thread that
  /// copies, which may be the sender's.
  void (*received)(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept = nullptr;
  /// The message that `from` has sent last takes this way. To ranks of other nodes: under the protocol layer's lock, on
  /// the thread that has it.
  void (*left)(Rank& from, Departure way, bool elsewhere, MPI_Count bytes) noexcept = nullptr;
};

/// Any thread, any time; `observer` lives as long as the process: it may be called a moment longer than it is
/// registered. There is room for four.
void observe_messages(const MessageObserver& observer) noexcept;
void forget_messages(const MessageObserver& observer) noexcept;

namespace detail {
extern std::atomic<int> g_message_observers;  // relaxed: who is seen late is told late
void tell_sent(Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept;
void tell_received(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept;
void tell_left(Rank& from, Departure way, bool elsewhere, MPI_Count bytes) noexcept;
}  // namespace detail

inline bool messages_observed() noexcept {
  return detail::g_message_observers.load(std::memory_order_relaxed) != 0;
}

inline void tell_received(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept {
  if (messages_observed()) [[unlikely]]
    detail::tell_received(to, key, bytes);
}
/// To ranks of other nodes.
inline void tell_left(int from, Departure way, MPI_Count bytes) noexcept {
  if (messages_observed()) [[unlikely]]
    detail::tell_left(*job()->local(from), way, true, bytes);
}

}  // namespace tmpi::mpi
