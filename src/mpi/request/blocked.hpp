// What a flow of control waits for while it is suspended in an MPI call. It leaves that in its task before it
// waits, as plain words: state dumps of a running job (SIGUSR1, --timeout) read them from another thread at any
// time, the deadlock report when everybody sleeps. A wait costs five stores more for it. Nothing here
// suspends but the wait_ functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "sched/task.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

struct Request;

enum class WaitKind : std::uint8_t {
  kNothing,     ///< not in MPI, or waits for something that is no communication (input, ...)
  kSend,        ///< until the receiver has taken the message
  kReceive,     ///< for a message
  kProbe,       ///< for a message that it will not take yet
  kAll,         ///< for all of `array`
  kAny,         ///< for one of `array`
  kCollective,  ///< for the other members of the communicator
  kOperation,   ///< for those who make a communicator with it; as `first`: a nonblocking collective, a
                ///< generalized request, ...
  kStarted,     ///< for the end of nonblocking operations that it has started and not waited for
  kWindow,      ///< for what others do with a window: `window` says what
  kPort,  ///< for somebody at the other end of a port: `tag` is its number, `peer` the rank that has opened it
  kOutside,  ///< the same, where somebody of another job may come: no part of a deadlock
  kSocket,   ///< for bytes from the other end of the socket `tag`: that may be anybody's, so that this is no
             ///< part of a deadlock
  kOwnSocket,  ///< the same, and the other end was one of this process: as long as it is, it is part of one
};

/// What a flow of control waits for that waits for others at a window. On its stack; asked only while it cannot run.
class WindowWait {
 public:
  /// "for MPI_Win_post (window ...)"
  virtual std::string describe() const = 0;
  /// Who is to act, as far as that is known.
  virtual std::vector<int> world_ranks() const = 0;

 protected:
  ~WindowWait() = default;
};

/// What a task has left. While it runs the fields may belong to two different waits; the pointers are safe to
/// follow only when the task cannot run.
struct Blocked {
  WaitKind kind = WaitKind::kNothing;
  WaitKind first = WaitKind::kNothing;  ///< kAll, kAny: what the first unfinished request is: kSend, kReceive
                                        ///< or kOperation
  int pending = 0;                      ///< kAll, kAny: unfinished requests when the wait began
  int peer = MPI_PROC_NULL;  ///< of the message (of the first unfinished request), or MPI_ANY_SOURCE
  int tag = MPI_ANY_TAG;
  ContextId context = 0;
  const Comm* comm = nullptr;          ///< not with kAll, kAny, kWindow, kPort and kSocket
  const WindowWait* window = nullptr;  ///< kWindow
  Request* const* array = nullptr;     ///< kAll, kAny: `size` entries, null ones included
  int size = 0;
};

Blocked blocked_on(const sched::Task& task) noexcept;

namespace detail {

// The words of sched::Task::note.
enum NoteWord : unsigned char { kWhat, kWhom, kContext, kWhere, kSize, kCollectiveComm, kCollectiveContext };

inline void put(sched::Task& task, NoteWord word, std::uint64_t value) noexcept {
  task.note[word].store(value, std::memory_order_relaxed);
}
inline std::uint64_t pair_of(int high, int low) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
}
inline std::uint64_t what(WaitKind kind, WaitKind first, int pending) noexcept {
  return pair_of(pending, static_cast<int>(kind) | static_cast<int>(first) << 8);
}

}  // namespace detail

/// Waits, and says for which message. False: all had come, it was not suspended. SUSPENDS.
inline bool wait_for(sched::Waiter& waiter, WaitKind kind, const Comm& comm, ContextId context, int peer,
                     int tag) noexcept {
  sched::Task& task = waiter.task();
  detail::put(task, detail::kWhom, detail::pair_of(peer, tag));
  detail::put(task, detail::kContext, context);
  detail::put(task, detail::kWhere, reinterpret_cast<std::uintptr_t>(&comm));
  detail::put(task, detail::kWhat, detail::what(kind, kind, 1));
  const bool suspended = waiter.wait();
  detail::put(task, detail::kWhat, 0);
  return suspended;
}

/// The same for the end of nonblocking operations that the rank has started. SUSPENDS.
inline void wait_for_started(sched::Waiter& waiter) noexcept {
  sched::Task& task = waiter.task();
  detail::put(task, detail::kWhere, 0);
  detail::put(task, detail::kWhat, detail::what(WaitKind::kStarted, WaitKind::kStarted, 1));
  waiter.wait();
  detail::put(task, detail::kWhat, 0);
}

/// The same for what others do with the window of this context. SUSPENDS.
inline void wait_for(sched::Waiter& waiter, ContextId context, const WindowWait& window) noexcept {
  sched::Task& task = waiter.task();
  detail::put(task, detail::kContext, context);
  detail::put(task, detail::kWhere, reinterpret_cast<std::uintptr_t>(&window));
  detail::put(task, detail::kWhat, detail::what(WaitKind::kWindow, WaitKind::kWindow, 1));
  waiter.wait();
  detail::put(task, detail::kWhat, 0);
}

/// The same for the other end of a port: number `port`, opened by rank `owner` of the job. SUSPENDS.
inline void wait_for_port(sched::Waiter& waiter, int owner, int port, bool outside) noexcept {
  sched::Task& task = waiter.task();
  detail::put(task, detail::kWhom, detail::pair_of(owner, port));
  detail::put(task, detail::kWhere, 0);
  const WaitKind kind = outside ? WaitKind::kOutside : WaitKind::kPort;
  detail::put(task, detail::kWhat, detail::what(kind, kind, 1));
  waiter.wait();
  detail::put(task, detail::kWhat, 0);
}

/// While a WaitingForSocket lives, whose other end this process has: waits for bytes from there. SUSPENDS.
inline void wait_for_own_socket(sched::Waiter& waiter) noexcept {
  sched::Task& task = waiter.task();
  detail::put(task, detail::kWhat, detail::what(WaitKind::kOwnSocket, WaitKind::kOwnSocket, 1));
  waiter.wait();
  detail::put(task, detail::kWhat, detail::what(WaitKind::kSocket, WaitKind::kSocket, 1));
}

/// While it lives, the calling flow of control waits for the other end of this socket, now and then asleep.
class WaitingForSocket {
 public:
  explicit WaitingForSocket(int fd) noexcept : task_(*sched::current()) {
    detail::put(task_, detail::kWhom, detail::pair_of(MPI_PROC_NULL, fd));
    detail::put(task_, detail::kWhere, 0);
    detail::put(task_, detail::kWhat, detail::what(WaitKind::kSocket, WaitKind::kSocket, 1));
  }
  ~WaitingForSocket() { detail::put(task_, detail::kWhat, 0); }
  WaitingForSocket(const WaitingForSocket&) = delete;
  WaitingForSocket& operator=(const WaitingForSocket&) = delete;

 private:
  sched::Task& task_;
};

/// While it lives, the calling flow of control waits for others that are to make a communicator with it but
/// have none in common with it.
class WaitingForOthers {
 public:
  WaitingForOthers() noexcept : task_(*sched::current()) {
    detail::put(task_, detail::kWhere, 0);
    detail::put(task_, detail::kWhat, detail::what(WaitKind::kOperation, WaitKind::kOperation, 1));
  }
  ~WaitingForOthers() { detail::put(task_, detail::kWhat, 0); }
  WaitingForOthers(const WaitingForOthers&) = delete;
  WaitingForOthers& operator=(const WaitingForOthers&) = delete;

 private:
  sched::Task& task_;
};

/// Waits for one (kAny) or all (kAll) of requests[0..n), `pending` of them unfinished. False as above. SUSPENDS.
bool wait_for(sched::Waiter& waiter, WaitKind kind, Request* const* requests, int n, int pending) noexcept;

/// While it lives, the calling flow of control takes part in a collective on `comm`.
class InCollective {
 public:
  explicit InCollective(const Comm& comm) noexcept : task_(*sched::current()) {
    outer_comm_ = task_.note[detail::kCollectiveComm].load(std::memory_order_relaxed);
    outer_context_ = task_.note[detail::kCollectiveContext].load(std::memory_order_relaxed);
    detail::put(task_, detail::kCollectiveContext, comm.context);
    detail::put(task_, detail::kCollectiveComm, reinterpret_cast<std::uintptr_t>(&comm));
  }
  ~InCollective() {
    detail::put(task_, detail::kCollectiveComm, outer_comm_);
    detail::put(task_, detail::kCollectiveContext, outer_context_);
  }
  InCollective(const InCollective&) = delete;
  InCollective& operator=(const InCollective&) = delete;

 private:
  sched::Task& task_;
  std::uint64_t outer_comm_, outer_context_;
};

}  // namespace tmpi::mpi
