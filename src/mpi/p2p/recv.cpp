// Receiving: from an unexpected message if one is there, else the receive is posted and the sender copies
// into its buffer.
#include <memory>
#include <new>

#include "base/platform.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/progress.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

// True if a message was there and has been received; false if the receive is posted now, or waits for the
// message's data.
bool take_or_post(Request& request) noexcept {
  // Between nodes. Said before it is posted: then the receive may be matched at any time, and be gone.
  ReceiveNotice notice;
  bool expected = false;
  const RemoteCalls* const remote = remote_calls();
  const auto post = [&]() noexcept -> PostedReceive& {
    request.posted.request = &request;
    if (remote != nullptr) [[unlikely]] {
      notice = remote->expect(request);
      expected = request.expected;
    }
    return request.posted;
  };
  // Two loads: both have just been stored one by one, and a load of both together would wait until everything that was stored
  // before is in the cache.
  const int source = request.peer;
  compiler_barrier();
  const int tag = request.tag;
  const MatchKey key{request.context, source, tag};
  if (Message* const message = request.comm->owner->matcher.receive(key, post))
    return accept(request, *message);
  if (expected) [[unlikely]] {
    if (notice.sender >= 0) remote->announce(notice);
    // Not under the matcher's lock: who is woken may take this thread's core, and then want the lock.
    sched::call_progress();
  }
  return false;
}

// The request of a blocking receive: on the caller's stack, and its completion goes to `waiter`.
void describe(Request& request, sched::Waiter& waiter, Comm& comm, ContextId context, void* buffer,
              MPI_Count count, const Datatype& type, int source, int tag) noexcept {
  request.kind = RequestKind::kRecv;
  request.buffer = buffer;
  request.count = count;
  request.type = &type;
  request.peer = source;
  request.tag = tag;
  request.comm = &comm;
  request.context = context;
  request.reset(waiter);
}

// Looks so often whether the message lies in a channel of the worker's, and takes it in. Not while others there wait
// for their turn.
inline bool comes_within(int looks, const sched::Waiter& waiter) noexcept {
  if (sched::one_worker()) return false;
  const int worker = sched::lone_worker();
  if (worker < 0) return false;
  while (!take_in_for(waiter, worker)) {
    if (--looks == 0) return false;
    cpu_relax();
  }
  return true;
}

// What comes while something of one's own goes out is looked for so often, in vain some microsecond, before the rank
// waits: waiting begins with an atomic instruction, which lasts until what has been sent has left this core, and the
// look for what comes would stand behind it. docs/design/matching.md, "Exchanges".
constexpr int kLooksInExchange = 64;

// Whether it comes from another worker of this process, as far as is known: not if ranks move.
inline bool comes_through_channel(const Comm& comm, int source) noexcept {
  if (source == MPI_ANY_SOURCE) return remote_calls() == nullptr;
  const Rank* const from = process(comm, source);
  return from != nullptr &&
         from->worker.load(std::memory_order_relaxed) != comm.owner->worker.load(std::memory_order_relaxed);
}

}  // namespace

Err truncated(const Request& request) {
  return fail(MPI_ERR_TRUNCATE,
              "the message from rank {} with tag {} is longer than the receive buffer of {} bytes ({} "
              "elements); the rest was dropped. "
              "Make the buffer larger, or ask for the size with MPI_Probe and MPI_Get_count",
              request.source, request.received_tag, request.count * request.type->size(), request.count);
}

Err receive_outcome(const Request& request, MPI_Status* status) {
  set_status(status, request.source, request.received_tag, request.bytes);
  return request.error == MPI_SUCCESS ? kOk : truncated(request);
}

Err recv(Comm& comm, ContextId context, void* buffer, MPI_Count count, const Datatype& type, int source,
         int tag, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_proc_null_status(status);
    return kOk;
  }
  Request request;
  sched::Waiter waiter(1);
  describe(request, waiter, comm, context, buffer, count, type, source, tag);
  if (take_or_post(request) || comes_within(1, waiter) ||
      !wait_for(waiter, WaitKind::kReceive, comm, context, source, tag)) {
    found_at_once(*comm.owner);
  } else {
    comm.owner->others_had_turn();
  }
  return receive_outcome(request, status);
}

void start_recv(Request& request) noexcept {
  if (request.peer == MPI_PROC_NULL) {
    request.source = MPI_PROC_NULL;
    request.received_tag = MPI_ANY_TAG;
    request.bytes = 0;
    request.complete_here();
  } else if (take_or_post(request)) {
    request.complete_here();
  }
}

Err sendrecv(Comm& comm, ContextId context, const void* sendbuf, MPI_Count sendcount,
             const Datatype& sendtype, int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
             const Datatype& recvtype, int source, int recvtag, MPI_Status* status) {
  // The receive is posted first, so that two ranks exchanging large messages both find it and nobody waits
  // twice.
  Request request;
  sched::Waiter waiter(1);
  describe(request, waiter, comm, context, recvbuf, recvcount, recvtype, source, recvtag);
  start_recv(request);
  const Err sent = send(comm, context, sendbuf, sendcount, sendtype, dest, sendtag);
  // Who is to send to us may do so only after it has received from us.
  if (sent && withdraw_receive(request)) [[unlikely]]
    return sent;
  // Over at once, too, if it comes from MPI_PROC_NULL.
  const bool received_by_now =
      waiter.over() || (comes_through_channel(comm, source) && comes_within(kLooksInExchange, waiter));
  if (received_by_now || !wait_for(waiter, WaitKind::kReceive, comm, context, source, recvtag)) {
    found_at_once(*comm.owner);
  } else {
    comm.owner->others_had_turn();
  }
  const Err received = receive_outcome(request, status);
  return sent ? received_but_not_sent(request.source, dest) : received;
}

Err sendrecv_replace(Comm& comm, ContextId context, void* buffer, MPI_Count count, const Datatype& type,
                     int dest, int sendtag, int source, int recvtag, MPI_Status* status) {
  // The outgoing data must be out of the way before the first incoming byte: a packed copy.
  const MPI_Count bytes = count * type.size();
  std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (copy == nullptr)
    return fail(MPI_ERR_NO_MEM, "no memory for a copy of {} bytes; use MPI_Sendrecv with two buffers", bytes);
  pack_segment(copy.get(), buffer, count, type, 0, bytes);
  return sendrecv(comm, context, copy.get(), bytes, *datatype_from(MPI_BYTE), dest, sendtag, buffer, count,
                  type, source, recvtag, status);
}

}  // namespace tmpi::mpi
