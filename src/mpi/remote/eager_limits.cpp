#include "mpi/remote/eager_limits.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/platform.hpp"

namespace tmpi::mpi::remote {

namespace {

// Ticks per byte, of memory that is not in the nearest cache.
double time_of_copying() {
  constexpr std::size_t kBytes = 256 << 10;
  const auto from = std::make_unique<std::byte[]>(kBytes), room = std::make_unique<std::byte[]>(kBytes);
  std::byte* volatile to = room.get();  // known to others, for all that the compiler can tell
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t begun = timers::now_ticks();
    std::memcpy(to, from.get(), kBytes);
    compiler_barrier();
    least = std::min(least, timers::now_ticks() - begun);
  }
  return static_cast<double>(least) / kBytes;
}

}  // namespace

// What a LimitSwitch does to the world: one per call.
class EagerLimits::Ports final : public SwitchPorts {
 public:
  Ports(EagerLimits& limits, int peer)
      : limits_(limits), peer_(peer), reconnection_(limits.transport_->reconnection()) {}

  void post(SwitchStep step, std::int64_t limit, const net::Endpoint& endpoint) override {
    limits_.refused_ += step == SwitchStep::kAbandon || (step == SwitchStep::kReply && limit == kCannot);
    const Kind kind = step == SwitchStep::kSwitched ? Kind::kSwitched : Kind::kLimit;
    limits_.backlog_->post(peer_, kind,
                           LimitChange{static_cast<std::uint32_t>(step), 0, limit, endpoint.bytes});
  }
  bool prepare(MPI_Count limit, net::Endpoint& mine) override {
    return limit <= EagerPolicy::kMost &&
           (reconnection_ == nullptr || reconnection_->prepare(peer_, static_cast<std::size_t>(limit), mine));
  }
  bool connect(const net::Endpoint& theirs) override {
    return reconnection_ == nullptr || reconnection_->connect(peer_, theirs);
  }
  void receive_by_new() override {
    if (reconnection_ != nullptr) reconnection_->receive_by_new(peer_);
  }
  void retire_old() override {
    if (reconnection_ != nullptr) reconnection_->retire_old(peer_);
  }
  void drop_new() override {
    if (reconnection_ != nullptr) reconnection_->drop_new(peer_);
  }
  MPI_Count own_limit() override { return limits_.policy_.suggestion(peer_); }
  bool may_lower(MPI_Count limit) override {
    return limit >= limits_.base_ && limits_.policy_.unused(peer_, timers::now_ticks());
  }
  void set_limit(MPI_Count limit) override {
    Pair& pair = limits_.pairs_[peer_];
    const MPI_Count before = pair.limit.load(std::memory_order_relaxed);
    limits_.above_ += (limit > limits_.base_) - (before > limits_.base_);
    ++(limit > before ? limits_.raised_ : limits_.lowered_);
    limits_.largest_ = std::max(limits_.largest_, limit);
    pair.limit.store(limit, std::memory_order_relaxed);
    pair.told_computing = false;  // the peer forgets it at our kSwitched, which has just been posted
    limits_.policy_.changed(peer_, limit, timers::now_ticks());
  }

 private:
  EagerLimits& limits_;
  const int peer_;
  net::Reconnection* const reconnection_;
};

void EagerLimits::use(Backlog& backlog, net::Transport& transport, int node, int nodes, int peers,
                      MPI_Count base, double release_seconds) {
  backlog_ = &backlog;
  transport_ = &transport;
  node_ = node;
  nodes_ = nodes;
  base_ = largest_ = base;
  if (release_seconds <= 0) return;
  policy_.use(peers, base, timers::ticks(release_seconds), time_of_copying());
  period_ = timers::ticks(release_seconds / 8);
  pairs_ = std::make_unique<Pair[]>(static_cast<std::size_t>(peers));
  for (int peer = 0; peer < peers; ++peer) {
    pairs_[peer].limit.store(base, std::memory_order_relaxed);
    pairs_[peer].change = LimitSwitch(node < peer);
  }
}

void EagerLimits::asked(int peer, MPI_Count bytes) {
  if (!dynamic() || peer >= nodes_) return;
  policy_.asked(peer, bytes);
  const MPI_Count limit = policy_.larger_limit(peer);
  if (limit == 0) return;
  Ports ports(*this, peer);
  pairs_[peer].change.start(ports, of(peer), limit);
}

bool EagerLimits::on_change(int peer, const LimitChange& change) {
  if (!dynamic() || peer >= nodes_) return false;
  const auto step = static_cast<SwitchStep>(change.step);
  // Before anything is computed from them.
  if (change.limit > EagerPolicy::kMost && change.limit > base_) return false;
  if (step == SwitchStep::kRequest && change.limit < base_) return false;
  if (step == SwitchStep::kSwitched) policy_.set_peer_computes(peer, false);
  Ports ports(*this, peer);
  return pairs_[peer].change.on_message(ports, of(peer), step, change.limit, {change.endpoint});
}

void EagerLimits::tell_computing(int peer) noexcept {
  bool& told = pairs_[peer].told_computing;
  if (policy_.computes(peer, told) == told) return;
  told = !told;
  backlog_->post(peer, Kind::kComputing, Computing{told, 0});
}

bool EagerLimits::on_computing(int peer, bool now) noexcept {
  if (!dynamic() || peer >= nodes_) return false;
  policy_.set_peer_computes(peer, now);
  return true;
}

void EagerLimits::release_unused() {
  if (above_ == 0) return;
  const std::uint64_t now = timers::now_ticks();
  if (now - looked_ < period_) return;
  looked_ = now;
  for (int peer = 0; peer < nodes_; ++peer) {
    if (!policy_.unused(peer, now)) continue;
    Ports ports(*this, peer);
    pairs_[peer].change.start(ports, of(peer), base_);
  }
}

void EagerLimits::count(ProtocolCounters& counters) const noexcept {
  counters.limits_raised = raised_;
  counters.limits_lowered = lowered_;
  counters.limits_refused = refused_;
  counters.largest_limit = static_cast<std::uint64_t>(largest_);
  counters.receive_buffers = transport_->receive_buffers().most_bytes;
}

}  // namespace tmpi::mpi::remote
