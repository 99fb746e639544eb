#include "mpi/remote/messages.hpp"

#include "mpi/rank/rank.hpp"
#include "mpi/remote/instance.hpp"

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

}  // namespace

bool send_now(const Rank& from, int dest, const MatchKey& key, const Outgoing& data, SendMode mode) noexcept {
  return engine()->inside(
      [&](Sends& sends, Receives&) { return sends.now(route_to(from, dest), key, data, mode); });
}

void start(const Rank& from, Request& request, int dest, const MatchKey& key, const Outgoing& data,
           SendMode mode) noexcept {
  engine()->inside(
      [&](Sends& sends, Receives&) { sends.start(request, route_to(from, dest), key, data, mode); });
}

bool accept(Request& receive, Message& message) noexcept {
  const Origin origin = origin_of(message);
  if (message.place == MessagePlace::kElsewhere) {
    const MatchKey key = message.key;
    const MPI_Count bytes = message.bytes;
    give_back_arrival(message);
    engine()->inside([&](Sends&, Receives& receives) { receives.fetch(receive, key, bytes, origin); });
    return false;
  }
  const MPI_Count bytes = message.bytes;
  receive_packed(receive, message.key, message.payload, bytes);
  give_back_arrival(message);
  std::uint64_t due;
  if (!engine()->receives().release_quietly(origin, bytes, due))
    engine()->inside([&](Sends&, Receives& receives) { receives.acknowledge(origin, due); });
  return true;
}

void cancel_send(Request& request) noexcept {
  const int dest = request.comm->shared->peers->world_rank(request.peer);
  engine()->inside([&](Sends& sends, Receives&) { sends.cancel(request, dest, job()->node_of(dest)); });
}

bool expect(Request& receive) noexcept {
  const int world = awaited(receive);
  receive.announced = engine()->announces() && world >= 0 && receive.tag != MPI_ANY_TAG &&
                      receive.count * receive.type->size() > engine()->eager_limit();
  receive.expected = world >= 0 || receive.peer == MPI_ANY_SOURCE;
  if (receive.expected) detail::g_expected.fetch_add(1, std::memory_order_relaxed);
  return receive.announced;
}

void no_longer_expected(Request& receive) noexcept {
  receive.expected = false;
  detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
}

Announce announcement_for(const Request& receive) noexcept {
  return {receive.context,
          awaited(receive),
          receive.comm->owner->world_rank,
          receive.tag,
          0,
          static_cast<std::uint64_t>(receive.count * receive.type->size())};
}

void announce(const Announce& announcement) noexcept {
  engine()->inside([&](Sends& sends, Receives&) {
    sends.tell(job()->node_of(announcement.sender), Kind::kAnnounce, announcement);
  });
}

void retract(const Request& receive) noexcept {
  const Announce announcement = announcement_for(receive);
  engine()->inside([&](Sends& sends, Receives&) {
    sends.tell(job()->node_of(announcement.sender), Kind::kRetract, announcement);
  });
}

}  // namespace tmpi::mpi::remote
