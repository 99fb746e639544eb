#include "mpi/tool/traffic.hpp"

#include <mutex>

#include "mpi/comm/context.hpp"
#include "mpi/p2p/observer.hpp"

namespace tmpi::mpi::tool {
namespace {

void count(MessageFigures& figures, MPI_Count bytes) noexcept {
  add_own(figures.messages, 1);
  add_own(figures.bytes, static_cast<std::uint64_t>(bytes));
}

// Several threads may bring messages to one rank.
void count_received(MessageFigures& figures, MPI_Count bytes) noexcept {
  add(figures.messages, 1);
  add(figures.bytes, static_cast<std::uint64_t>(bytes));
}

// Calls body(peers) for each of the rank's communicators that are watched and have this context.
template <class Body>
void for_traffic(RankFigures& figures, ContextId context, Body&& body) noexcept {
  if (figures.traffic.load(std::memory_order_acquire) == nullptr) return;
  const std::scoped_lock lock(figures.traffic_lock);
  for (CommTraffic* each = figures.traffic.load(std::memory_order_relaxed); each != nullptr;
       each = each->next) {
    if (each->context == base_of(context)) body(*each);
  }
}

void on_sent(Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept {
  count(from.figures.sent, bytes);
  for_traffic(from.figures, key.context, [&](CommTraffic& traffic) {
    if (const int peer = traffic.peers->rank_of(to); peer >= 0) count(traffic.by_peer[peer].sent, bytes);
  });
}

void on_received(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept {
  count_received(to.figures.received, bytes);
  for_traffic(to.figures, key.context, [&](CommTraffic& traffic) {
    if (key.source >= 0 && key.source < traffic.peers->size())
      count(traffic.by_peer[key.source].received, bytes);
  });
}

void on_left(Rank& from, Departure way, bool elsewhere, MPI_Count bytes) noexcept {
  RankFigures& figures = from.figures;
  count((elsewhere ? figures.remote_ways : figures.ways)[static_cast<std::size_t>(way)], bytes);
}

constexpr MessageObserver kObserver{.sent = on_sent, .received = on_received, .left = on_left};

std::mutex counting;
int counters = 0;

}  // namespace

void count_messages() noexcept {
  const std::scoped_lock lock(counting);
  if (counters++ == 0) observe_messages(kObserver);
}

void discount_messages() noexcept {
  const std::scoped_lock lock(counting);
  if (--counters == 0) forget_messages(kObserver);
}

CommTraffic::CommTraffic(Rank& rank, const Comm& comm)
    : owner(rank),
      context(comm.context),
      peers(comm.shared->peers),
      by_peer(std::make_unique<Peer[]>(static_cast<std::size_t>(peers->size()))) {
  count_messages();
  const std::scoped_lock lock(owner.figures.traffic_lock);
  next = owner.figures.traffic.load(std::memory_order_relaxed);
  owner.figures.traffic.store(this, std::memory_order_release);
}

CommTraffic::~CommTraffic() {
  discount_messages();
  const std::scoped_lock lock(owner.figures.traffic_lock);
  CommTraffic* first = owner.figures.traffic.load(std::memory_order_relaxed);
  if (first == this) {
    owner.figures.traffic.store(next, std::memory_order_release);
    return;
  }
  while (first->next != this) first = first->next;
  first->next = next;
}

}  // namespace tmpi::mpi::tool
