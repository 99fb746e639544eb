// Sending: begins the way that way.hpp chooses. What a channel does not take, and what does not go through one, goes to the
// receiver's matcher: into a posted receive if there is one, else it is left there.
// docs/design/matching.md.
#include "base/deferred.hpp"
#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/observer.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/move.hpp"

namespace tmpi::mpi {
namespace {

// Copies up to this many bytes into a cell under the matcher's lock: cheaper than taking the lock twice.
constexpr MPI_Count kCopyUnderLock = 256;
// A rank that sends on and on to one of its own worker gives it its turn after so many messages that lie there:
// what comes after the receiver, on another core perhaps, would wait for the last of them (docs/design/matching.md,
// Running ahead). Few enough to lie in the nearest cache, and so many that the switch does not count.
constexpr std::size_t kTurn = 8;

// kAhead: buffered, and it is the receiver's turn. kNoMemory: neither, since what was sent before cannot be
// left with the receiver.
enum class Left { kDelivered, kBuffered, kAhead, kDescriptor, kNoMemory };

// A message in a cell; null if there is no memory.
Message* copy_to_cell(const Outgoing& data) noexcept {
  Message* const cell = take_cell(data.bytes);
  if (cell == nullptr) return nullptr;
  cell->bytes = data.bytes;
  cell->serial = data.serial;
  pack(cell_payload(cell), data);
  return cell;
}

Message* describe(Request& request, const Outgoing& data) noexcept {
  Message& message = request.message;
  message.bytes = data.bytes;
  message.serial = data.serial;
  message.payload = nullptr;
  message.sender = &request;
  return &message;
}

// Way::kEager and kRendezvous: delivers the message, or leaves it in a cell or as a descriptor. `descriptor()` is the
// sender's request, filled and pending: asked for, under the matcher's lock, only if the message is not buffered.
// `together`: both ranks are the calling worker's.
template <class Descriptor>
[[gnu::always_inline]] inline Left leave(Rank& target, const MatchKey& key, const Outgoing& data, Way way,
                                         bool together, Descriptor&& descriptor) noexcept {
  Matcher& matcher = target.matcher;
  bool buffer = way == Way::kEager;
  Message* cell = nullptr;
  Left left = Left::kBuffered;
  const auto message = [&]() noexcept -> Message* {
    if (buffer && cell == nullptr && matcher.buffered_bytes() < kMostBuffered) {
      if (data.bytes > kCopyUnderLock) return nullptr;
      cell = copy_to_cell(data);
    }
    if (cell != nullptr) {
      if (together && (matcher.unexpected_count() + 1) % kTurn == 0) [[unlikely]]
        left = Left::kAhead;
      return cell;
    }
    left = Left::kDescriptor;
    return describe(descriptor(), data);
  };
  MatchResult arrival = matcher.arrive(key, message);
  if (arrival.receive == nullptr && !arrival.left) {
    // To be copied, but not under the lock. A receive may come meanwhile.
    cell = copy_to_cell(data);
    buffer = false;
    arrival = matcher.arrive(key, message);
    if (arrival.receive != nullptr && cell != nullptr) give_back_cell(cell);
  }
  if (arrival.receive == nullptr) {
    // Not if it waits for something else: it would not take them now.
    const bool ahead = left == Left::kAhead && target.task->get_state() == sched::TaskState::kReady;
    return left == Left::kAhead && !ahead ? Left::kBuffered : left;
  }
  deliver(*arrival.receive, key, data, together);
  return Left::kDelivered;
}

[[gnu::always_inline]] inline Way way_of(const Outgoing& data, ReceiverPlace place, SendMode mode) noexcept {
  return choose_way(place, data.bytes, data.type.scattered() ? DataLayout::kScattered : DataLayout::kRuns,
                    mode);
}

// Way::kNetwork.
template <class Descriptor>
[[gnu::noinline]] Left send_elsewhere(const Comm& comm, int dest, const MatchKey& key, const Outgoing& data,
                                      SendMode mode, Descriptor&& descriptor) noexcept {
  const Rank& me = *comm.owner;
  const RemoteCalls& remote = *remote_calls();
  if (remote.send_now(me, dest, key, data, mode)) return Left::kBuffered;
  remote.start(me, descriptor(), dest, key, data, mode);
  return Left::kDescriptor;
}

// Where ranks move (docs/design/load-balance.md). `here` is right until the sender's next scheduling point; the receiver may
// have left `there` when the message comes to be looked at, and then whoever looks completes the receive for another
// worker.
template <class Descriptor>
[[gnu::noinline, gnu::cold]] Left pass_on_moving(const Comm& comm, Rank& target, const MatchKey& key,
                                                 const Outgoing& data, SendMode mode,
                                                 Descriptor&& descriptor) noexcept {
  sched::count_message(*comm.owner->task, *target.task, static_cast<std::size_t>(data.bytes));
  const int here = comm.owner->place.load(std::memory_order_relaxed);
  const int there = target.place.load(std::memory_order_relaxed);
  const Followed followed = follow(here, there, target);
  if (followed == Followed::kNo) return Left::kNoMemory;
  if (here != there && here >= 0 && there >= 0) {
    const Way way = way_of(data, ReceiverPlace::kWorker, mode);
    if (goes_by_channel(way) && followed == Followed::kYes && !computes(there) &&
        post(here, there, target, key, data, way)) {
      // If the worker has begun to meanwhile, or the receiver has left it, one of us delivers: both sides look at the
      // other's word after they have written their own, seq_cst (post(), note_move()).
      if (computes(there) || target.place.load(std::memory_order_seq_cst) != there) [[unlikely]]
        (void)flush(here, there);
      return Left::kBuffered;
    }
    if (!flush(here, there)) return Left::kNoMemory;
  }
  return leave(target, key, data, way_of(data, ReceiverPlace::kMatcher, mode),
               sched::is_neighbour(*target.task), descriptor);
}

// To a communicator's rank.
template <class Descriptor>
[[gnu::always_inline]] inline Left pass_on(const Comm& comm, int dest, const MatchKey& key,
                                           const Outgoing& data, SendMode mode,
                                           Descriptor&& descriptor) noexcept {
  const int world_rank = comm.shared->peers->world_rank(dest);
  Rank* const found = job()->local(world_rank);
  if (found == nullptr) [[unlikely]]
    return send_elsewhere(comm, world_rank, key, data, mode, descriptor);
  Rank& target = *found;
  const int here = comm.owner->worker.load(std::memory_order_relaxed);
  const int there = target.worker.load(std::memory_order_relaxed);
  if (here != there && there >= 0) {
    const Way way = way_of(data, ReceiverPlace::kWorker, mode);
    if (goes_by_channel(way) && post(here, there, target, key, data, way)) return Left::kBuffered;
    if (!flush(here, there)) return Left::kNoMemory;  // what was sent before must be matched before
  }
  if (here == there && here < 0 && sched::tasks_move()) [[unlikely]]
    return pass_on_moving(comm, target, key, data, mode, descriptor);
  return leave(target, key, data, way_of(data, ReceiverPlace::kMatcher, mode), here == there && here >= 0,
               descriptor);
}

// The same while somebody wants to know of it. How it goes to another node is told there.
template <class Descriptor>
[[gnu::noinline, gnu::cold]] Left pass_on_observed(const Comm& comm, int dest, const MatchKey& key,
                                                   const Outgoing& data, SendMode mode,
                                                   Descriptor&& descriptor) noexcept {
  Rank& me = *comm.owner;
  const int world_rank = comm.shared->peers->world_rank(dest);
  const MPI_Count bytes = data.bytes;
  detail::tell_sent(me, world_rank, key, bytes);
  const Left left = pass_on(comm, dest, key, data, mode, descriptor);  // the request may be gone
  if (job()->local(world_rank) == nullptr || left == Left::kNoMemory) return left;
  const Departure departure = left == Left::kDelivered    ? Departure::kDirect
                              : left == Left::kDescriptor ? Departure::kRendezvous
                                                          : Departure::kEager;
  detail::tell_left(me, departure, false, bytes);
  return left;
}

template <class Descriptor>
inline Left hand_over(const Comm& comm, int dest, const MatchKey& key, const Outgoing& data, SendMode mode,
                      Descriptor&& descriptor) noexcept {
  if (messages_observed()) [[unlikely]]
    return pass_on_observed(comm, dest, key, data, mode, descriptor);
  return pass_on(comm, dest, key, data, mode, descriptor);
}

// What a blocking send leaves of itself, if anything.
struct BlockingSend {
  explicit BlockingSend(const Outgoing& data) noexcept {
    request.kind = RequestKind::kSend;
    request.buffer = const_cast<void*>(data.buffer);
    request.count = data.count;
    request.type = &data.type;
    request.reset(waiter);
  }
  Request request;
  sched::Waiter waiter{1};
};

}  // namespace

Err not_sent(int dest) {
  return fail(MPI_ERR_NO_MEM,
              "rank {} has not received what was sent to it before, and there is no memory to keep that: the "
              "message was not sent. Use fewer ranks per node, or let receivers keep up with their senders",
              dest);
}

Err received_but_not_sent(int source, int dest) {
  if (source == MPI_PROC_NULL) return not_sent(dest);
  return fail(
      MPI_ERR_OTHER,
      "the message from rank {} has been received, but nothing has been sent: rank {} has not received "
      "what was sent to it before, and there is no memory to keep that. Send it with MPI_Send: the same "
      "call again would receive another message. Use fewer ranks per node, or let receivers keep up "
      "with their senders",
      source, dest);
}

Err send(Comm& comm, ContextId context, const void* buffer, MPI_Count count, const Datatype& type, int dest,
         int tag, SendMode mode) {
  if (dest == MPI_PROC_NULL) return kOk;
  const Outgoing data{buffer, count, type, count * type.size()};
  Deferred<BlockingSend> rest;  // most messages are gone at once and need none
  const auto descriptor = [&]() noexcept -> Request& { return rest.make(data).request; };
  const Left left = hand_over(comm, dest, {context, comm.rank, tag}, data, mode, descriptor);
  const bool suspended =
      left == Left::kDescriptor && wait_for(rest->waiter, WaitKind::kSend, comm, context, dest, tag);
  if (left == Left::kAhead) [[unlikely]]
    comm.owner->ahead = true;
  if (suspended) {
    comm.owner->others_had_turn();
  } else {
    found_at_once(*comm.owner);
  }
  return left == Left::kNoMemory ? not_sent(dest) : kOk;
}

void start_send(Request& request) noexcept {
  request.bytes = request.count * request.type->size();
  request.buffered = false;
  if (request.peer == MPI_PROC_NULL) return request.complete_here();
  request.serial = request.comm->owner->requests.next_serial();
  const Outgoing data{request.buffer, request.count, *request.type, request.bytes,
                      static_cast<std::uint16_t>(request.serial)};
  const Left left = hand_over(*request.comm, request.peer, {request.context, request.comm->rank, request.tag},
                              data, request.mode, [&]() noexcept -> Request& { return request; });
  if (left == Left::kDescriptor) return;  // and the request may be gone
  request.buffered = left == Left::kBuffered || left == Left::kAhead;
  if (left == Left::kAhead) request.comm->owner->ahead = true;  // its turn comes when we wait
  if (left == Left::kNoMemory) request.error = MPI_ERR_NO_MEM;
  request.complete_here();
}

}  // namespace tmpi::mpi
