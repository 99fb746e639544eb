// The protocol layer's side of p2p/remote_calls.hpp.
#include <algorithm>
#include <utility>

#include "mpi/p2p/remote_calls.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/instance.hpp"
#include "sched/progress.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {
namespace {

Route route_to(const Rank& from, int dest) noexcept {
  return {from.world_rank, dest, job()->node_of(dest)};
}

// The world rank that the receive waits for, if it is one and lives on another node; else -1.
int awaited(const Request& receive) noexcept {
  if (receive.peer == MPI_ANY_SOURCE) return -1;
  const int world = receive.comm->shared->peers->world_rank(receive.peer);
  return job()->local(world) == nullptr ? world : -1;
}

// Request::started of an operation of this rank.
std::uint64_t begun_now(Rank& rank, MPI_Count bytes) noexcept {
  const EagerLimits& limits = engine()->eager_limits();
  if (!limits.dynamic() || bytes <= limits.base()) return 0;
  rank.first_look = 0;
  rank.last_start = timers::now_ticks();
  return rank.last_start;
}

bool send_now(const Rank& from, int dest, const MatchKey& key, const Outgoing& data, SendMode mode) noexcept {
  // Nobody waits for whoever is inside: then the message needs a request.
  return engine()->attempt(
      [&](Sends& sends, Receives&) { return sends.now(route_to(from, dest), key, data, mode); });
}

void start(const Rank& from, Request& request, int dest, const MatchKey& key, const Outgoing& data,
           SendMode mode) noexcept {
  // Cleared here and not when it starts: it may be cancelled before somebody has come to that.
  request.cancelling = false;
  Rank* const owner = request.comm != nullptr ? request.comm->owner : nullptr;
  const std::uint64_t begun = owner != nullptr ? begun_now(*owner, data.bytes) : 0;
  request.started = begun;
  engine()->submit([&request, route = route_to(from, dest), key, data, mode](Sends& sends, Receives&) {
    sends.start(request, route, key, data, mode);
  });
  if (begun != 0) owner->last_start = timers::now_ticks();  // its data may have been copied
  if (owner == nullptr) engine()->eager_limits().blocked_for(job()->node_of(dest), data.bytes);
  sched::call_progress();
}

bool accept(Request& receive, Message& message) noexcept {
  const Origin origin = origin_of(message);
  if (receive.blocking()) engine()->eager_limits().blocked_for(origin.peer, message.bytes);
  if (message.place == MessagePlace::kElsewhere) {
    const MatchKey key = message.key;
    const MPI_Count bytes = message.bytes;
    receive.started = receive.kind == RequestKind::kRecv && !receive.blocking()
                          ? begun_now(*receive.comm->owner, bytes)
                          : 0;
    give_back_arrival(message);
    receive.posted_at = 0;
    engine()->submit([&receive, key, bytes, origin](Sends&, Receives& receives) {
      receives.fetch(receive, key, bytes, origin);
    });
    sched::call_progress();
    return false;
  }
  const MPI_Count bytes = message.bytes;
  receive_packed(receive, message.key, message.payload, bytes);
  give_back_arrival(message);
  std::uint64_t due;
  if (!engine()->receives().release_quietly(origin, bytes, due))
    engine()->submit([origin, due](Sends&, Receives& receives) { receives.acknowledge(origin, due); });
  return true;
}

void cancel_send(Request& request) noexcept {
  const int dest = request.comm->shared->peers->world_rank(request.peer);
  engine()->inside([&](Sends& sends, Receives&) { sends.cancel(request, dest, job()->node_of(dest)); });
}

ReceiveNotice notice_of(const Request& receive, int sender) noexcept {
  return {.context = receive.context,
          .sender = sender,
          .receiver = receive.comm->owner->world_rank,
          .tag = receive.tag,
          .capacity = receive.count * receive.type->size()};
}

ReceiveNotice expect(Request& receive) noexcept {
  const int world = awaited(receive);
  const MPI_Count bytes = receive.count * receive.type->size();
  receive.announced = engine()->announces() && world >= 0 && receive.tag != MPI_ANY_TAG &&
                      bytes > engine()->eager_limits().base();
  // A blocking one is looked for at once, and says nothing of what the rank does between starts and waits of others.
  receive.started = 0;
  if (world >= 0 && receive.blocking())
    engine()->eager_limits().blocked_for(job()->node_of(world), bytes);
  else if (world >= 0)
    receive.started = begun_now(*receive.comm->owner, bytes);
  receive.expected = world >= 0 || receive.peer == MPI_ANY_SOURCE;
  receive.posted_at = receive.expected && engine()->serves_in_order(bytes) ? timers::now_ticks() : 0;
  // seq_cst pairs with the progress thread that is about to sleep (sched/progress.hpp), whom the caller calls
  // when the lock is open.
  if (receive.expected) detail::g_expected.fetch_add(1, std::memory_order_seq_cst);
  return receive.announced ? notice_of(receive, world) : ReceiveNotice{};
}

void no_longer_expected(Request& receive) noexcept {
  receive.expected = false;
  detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
}

void tell_sender(Kind what, const ReceiveNotice& notice) noexcept {
  const Announce announcement{.context = notice.context,
                              .sender = number_at_home(notice.sender),
                              .receiver = notice.receiver,
                              .tag = notice.tag,
                              .capacity = static_cast<std::uint64_t>(notice.capacity)};
  engine()->submit([peer = job()->node_of(notice.sender), what, announcement](Sends& sends, Receives&) {
    sends.tell(peer, what, announcement);
  });
}

void announce(const ReceiveNotice& notice) noexcept {
  tell_sender(Kind::kAnnounce, notice);
}

void retract(const Request& receive) noexcept {
  tell_sender(Kind::kRetract, notice_of(receive, awaited(receive)));
}

void looked_for(Request& request) noexcept {
  const std::uint64_t started = std::exchange(request.started, 0);
  // What was never looked for leaves the field as it is to the next operation of the same request.
  const bool message = request.kind == RequestKind::kSend || request.kind == RequestKind::kRecv;
  if (!message || request.comm == nullptr || request.peer < 0 ||
      request.peer >= request.comm->shared->peers->size())
    return;
  // One that is waited for after another: the rank has not computed in between, but waited for that one. Nor has it
  // between two starts: windows of large messages are begun one after the other.
  Rank& rank = *request.comm->owner;
  if (rank.first_look < started) rank.first_look = timers::now_ticks();
  const std::uint64_t computed = rank.first_look - std::min(rank.first_look, rank.last_start);
  const int peer = job()->node_of(request.comm->shared->peers->world_rank(request.peer));
  engine()->eager_limits().looked_for(peer, request.count * request.type->size(), computed);
}

}  // namespace

const RemoteCalls& remote_table() noexcept {
  static constexpr RemoteCalls table{.send_now = send_now,
                                     .start = start,
                                     .accept = accept,
                                     .cancel_send = cancel_send,
                                     .expect = expect,
                                     .announce = announce,
                                     .no_longer_expected = no_longer_expected,
                                     .retract = retract,
                                     .looked_for = looked_for,
                                     .poll = poll};
  return table;
}

}  // namespace tmpi::mpi::remote
