// Request: one communication operation from its start to its completion. Blocking calls keep theirs on the
// fiber's stack; nonblocking and persistent ones take it from the rank's pool, and the pointer is the
// MPI_Request. MPI report, 3.7.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/match/message.hpp"
#include "mpi/request/continuation.hpp"
#include "mpi/request/extension.hpp"
#include "mpi/request/request_pool.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

/// kExtended: no message of its own, the work is `extension`'s.
enum class RequestKind : std::uint8_t { kSend, kRecv, kMrecv, kExtended };

struct Request {
  static constexpr std::uint32_t kMagic = 0x52455153;  // "REQS"
  static constexpr std::uint32_t kAbandoned = 0x51455246;

 private:
  friend struct FactsOfQueues;  // mpi/diagnose/debugger_queue_facts.cpp
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  static constexpr std::uintptr_t kContinues = 2;  // a bit in the address of a Continuation
  std::atomic<std::uintptr_t> state_{kPending};    // kPending, kDone, the Waiter or the Continuation to tell

 public:
  std::uint32_t magic = 0;  ///< kMagic while the user holds the handle; kAbandoned: freed, but not done
  RequestKind kind = RequestKind::kRecv;
  SendMode mode = SendMode::kStandard;
  bool persistent = false;
  bool active = false;  ///< persistent: started and not yet completed by a wait or test
  bool cancelled = false;
  bool buffered = false;  ///< kSend: complete, but its message lay in a cell or channel when it left
  // Between nodes (mpi/remote/).
  bool cancelling = false;  ///< kSend: the answer to an attempt to cancel it is on its way
  bool expected = false;    ///< kRecv: posted, and a message from elsewhere may match
  int error = MPI_SUCCESS;  ///< error class of the finished operation

  // What every request needs comes first: with many outstanding, the cache lines that a message touches
  // count.
  std::unique_ptr<RequestExtension> extension;  ///< kExtended
  Request* next = nullptr;                      ///< pool

  // What was asked. `peer` is a rank of the communicator, or MPI_ANY_SOURCE / MPI_PROC_NULL.
  void* buffer = nullptr;  ///< never written through for a send
  MPI_Count count = 0;
  const Datatype* type = nullptr;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  Comm* comm = nullptr;  ///< null: the operation belongs to no communicator (generalized requests)

  ContextId context = 0;     ///< comm->context, or that of its collectives
  std::uint64_t serial = 0;  ///< kSend, nonblocking: number of the send (RequestPool::next_serial)

  // What came of it, for the status; written by whoever finishes the operation, before `state_`.
  int source = MPI_ANY_SOURCE;
  int received_tag = MPI_ANY_TAG;
  MPI_Count bytes = 0;

  PostedReceive posted;  ///< kRecv: my entry in my matcher
  Message message;       ///< kSend: my entry in the receiver's matcher if it points at my buffer

  // Between nodes as well, and set there before they are read: a blocking call makes its request anew each
  // time.
  bool announced;          ///< kRecv: posted, and its sender's node has been told
  std::uint64_t transfer;  ///< kSend: its number there while it is pending
  Request* next_finished;  ///< list of requests that are about to be completed
  /// Ticks at which it was started, until its rank first looks for it; 0: nobody wants to know
  /// (--eager-limit dynamic).
  std::uint64_t started = 0;
  /// kRecv: ticks at which it was posted, if a message from elsewhere may match that has to be asked for, and those
  /// are served in order (mpi/remote/transfer_queue.hpp); else 0.
  std::uint64_t posted_at;

  bool done() const noexcept { return state_.load(std::memory_order_acquire) == kDone; }

  /// Of a blocking call: its completion goes to a waiter from the start. Asked before anybody else knows of the request.
  bool blocking() const noexcept {
    const std::uintptr_t whom = state_.load(std::memory_order_relaxed);
    return whom > kDone && (whom & kContinues) == 0;
  }

  /// Makes the request pending again.
  void reset() noexcept { state_.store(kPending, std::memory_order_relaxed); }
  /// Pending, and the first completion goes to `waiter`: before the request is made known to anybody.
  void reset(sched::Waiter& waiter) noexcept {
    state_.store(reinterpret_cast<std::uintptr_t>(&waiter), std::memory_order_relaxed);
  }
  /// Pending, and the completion goes to `continuation`; nobody can wait for the request then.
  void reset(Continuation& continuation) noexcept {
    state_.store(reinterpret_cast<std::uintptr_t>(&continuation) | kContinues, std::memory_order_relaxed);
  }
  /// Finishes the operation: any thread, once. The request may be gone after the call. acq_rel pairs with
  /// done() and attach().
  void complete() noexcept { tell(state_.exchange(kDone, std::memory_order_acq_rel)); }
  /// complete() is coming, by the caller, after something that takes longer than a cache line to come from another
  /// core: begins to fetch what it will write.
  void prepare_completion() const noexcept {
    fetch_for_writing(&state_);
    const std::uintptr_t whom = state_.load(std::memory_order_acquire);
    if (whom <= kDone || (whom & kContinues) != 0) return;
    // Only looked at by the processor, so that it does not matter if a waiter is taken back meanwhile.
    reinterpret_cast<const sched::Waiter*>(whom)->fetch();
  }
  /// The same, by a flow of control inside the worker of the request's rank: nobody else can attach or detach
  /// a waiter meanwhile, and that saves the locked instruction.
  void complete_here() noexcept {
    const std::uintptr_t old = state_.load(std::memory_order_relaxed);
    state_.store(kDone, std::memory_order_release);
    tell(old);
  }
  /// False if the request is done already.
  bool attach(sched::Waiter& waiter) noexcept {
    std::uintptr_t expected = kPending;
    return state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&waiter),
                                          std::memory_order_acq_rel);
  }
  /// False if a completer has taken hold of the waiter (the request is done then).
  bool detach(sched::Waiter& waiter) noexcept {
    std::uintptr_t expected = reinterpret_cast<std::uintptr_t>(&waiter);
    return state_.compare_exchange_strong(expected, kPending, std::memory_order_acq_rel);
  }

 private:
  // The request may be gone.
  static void tell(std::uintptr_t whom) noexcept {
    if (whom == kPending) return;
    if ((whom & kContinues) == 0) [[likely]]
      reinterpret_cast<sched::Waiter*>(whom)->complete();
    else
      reinterpret_cast<Continuation*>(whom & ~kContinues)->proceed();
  }
};

inline Request& RequestPool::take() {
  if (free_ == nullptr) [[unlikely]]
    find_some();
  Request& request = *free_;
  free_ = request.next;
  request.next = nullptr;
  request.magic = Request::kMagic;
  request.mode = SendMode::kStandard;
  request.persistent = false;
  request.active = true;
  request.cancelled = false;
  request.error = MPI_SUCCESS;
  request.source = MPI_ANY_SOURCE;
  request.received_tag = MPI_ANY_TAG;
  request.bytes = 0;
  request.type = nullptr;
  request.comm = nullptr;
  request.reset();
  return request;
}

template <class Use>
void RequestPool::for_each(Use use) const {
  for (const Chunk& chunk : chunks_) {
    for (const Request& request : chunk) {
      if (request.magic != 0) use(const_cast<Request&>(request));
    }
  }
}

inline void RequestPool::give_back(Request& request) noexcept {
  if (request.type != nullptr) request.type->release();
  request.type = nullptr;
  if (request.extension != nullptr) [[unlikely]]
    request.extension = nullptr;
  if (request.comm != nullptr) release(*request.comm);
  request.comm = nullptr;
  request.magic = 0;
  request.next = free_;
  free_ = &request;
}

}  // namespace tmpi::mpi
