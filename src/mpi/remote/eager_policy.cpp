#include "mpi/remote/eager_policy.hpp"

#include <algorithm>
#include <bit>

namespace tmpi::mpi::remote {

MPI_Count EagerPolicy::limit_for(std::uint64_t bytes, std::uint64_t messages) noexcept {
  const std::uint64_t mean = (bytes + messages - 1) / messages;
  return static_cast<MPI_Count>(std::bit_ceil(mean)) + kOffset;
}

void EagerPolicy::use(int nodes, MPI_Count base, std::uint64_t release, double copying) {
  base_ = base;
  release_ = release;
  copying_ = copying;
  peers_ = std::make_unique<Peer[]>(static_cast<std::size_t>(nodes));
  for (int peer = 0; peer < nodes; ++peer) peers_[peer].limit = base;
}

void EagerPolicy::asked(int peer, MPI_Count bytes) noexcept {
  Peer& pair = peers_[peer];
  // What lacked credit, or asked because that took less time, and what no limit would ever let through, say nothing
  // about a better one.
  if (bytes <= pair.limit || bytes > kMost) return;
  pair.bytes += static_cast<std::uint64_t>(bytes + kHeader);
  if (++pair.messages < kForget) return;
  pair.bytes /= 2;
  pair.messages /= 2;
}

void EagerPolicy::moved(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept {
  if (bytes <= 0) return;
  std::atomic<double>& least = peers_[peer].ticks_per_byte;
  const double now = static_cast<double>(ticks) / static_cast<double>(bytes);
  const double before = least.load(std::memory_order_relaxed);
  if (before == 0 || now < before) least.store(now, std::memory_order_relaxed);
}

void EagerPolicy::answered(int peer, MPI_Count bytes, MPI_Count moved, std::uint64_t ticks) noexcept {
  if (bytes <= base_) return;  // it lacked credit, for which it has waited
  Peer& pair = peers_[peer];
  const double moving = static_cast<double>(moved) * pair.ticks_per_byte.load(std::memory_order_relaxed);
  pair.asking = std::min(pair.asking, std::max(static_cast<double>(ticks) - moving, 1.0));
  pair.answers += pair.answers < kAnswers && !pair.somebody_computes();
}

void EagerPolicy::count_look(int peer, bool is_late) noexcept {
  Peer& pair = peers_[peer];
  std::uint32_t looks = pair.looks.load(std::memory_order_relaxed) + 1;
  std::uint32_t late = pair.late.load(std::memory_order_relaxed) + is_late;
  if (looks >= kLooks) {
    looks /= 2;
    late /= 2;
  }
  pair.looks.store(looks, std::memory_order_relaxed);
  pair.late.store(late, std::memory_order_relaxed);
}

void EagerPolicy::looked_for(int peer, MPI_Count bytes, std::uint64_t ticks) noexcept {
  const double transfer =
      static_cast<double>(bytes) * peers_[peer].ticks_per_byte.load(std::memory_order_relaxed);
  if (transfer == 0) return;  // nothing is known yet
  count_look(peer, 2 * static_cast<double>(ticks) >= transfer);
}

void EagerPolicy::changed(int peer, MPI_Count limit, std::uint64_t now) noexcept {
  Peer& pair = peers_[peer];
  pair.raised += limit > pair.limit;
  pair.limit = limit;
  pair.used = now;
  pair.messages = pair.bytes = 0;
  pair.looks.store(0, std::memory_order_relaxed);
  pair.late.store(0, std::memory_order_relaxed);
}

MPI_Count EagerPolicy::suggestion(int peer) const noexcept {
  const Peer& pair = peers_[peer];
  return pair.messages == 0 ? 0 : std::min(limit_for(pair.bytes, pair.messages), kMost);
}

MPI_Count EagerPolicy::larger_limit(int peer) const noexcept {
  const Peer& pair = peers_[peer];
  if (pair.messages < kMessages) return 0;
  const std::uint32_t looks = pair.looks.load(std::memory_order_relaxed);
  if (looks < kMessages || 2 * pair.late.load(std::memory_order_relaxed) < looks) return 0;
  const MPI_Count limit = suggestion(peer);
  return limit > pair.limit ? limit : 0;
}

bool EagerPolicy::pays(int peer, MPI_Count bytes) const noexcept {
  const Peer& pair = peers_[peer];
  if (pair.somebody_computes()) return true;
  return pair.answers >= kAnswers && 2 * copying_ * static_cast<double>(bytes) <= pair.asking;
}

bool EagerPolicy::unused(int peer, std::uint64_t now) const noexcept {
  const Peer& pair = peers_[peer];
  if (pair.limit <= base_) return false;
  const unsigned weight = std::clamp(pair.raised, 1u, 5u) - 1;
  return now - pair.used > release_ << weight;
}

}  // namespace tmpi::mpi::remote
