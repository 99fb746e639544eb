#include "observe/sent_tally.hpp"

#include <new>

namespace tmpi::observe {
namespace {

constexpr std::uint32_t kFirstCapacity = 16;

}  // namespace

MessageSum& SentTally::add(int to) noexcept {
  const bool full = arrays_.empty() || used_ * 4 >= mask_ * 3;
  if (used_ == kMostPeers || (full && !grow())) return others_;
  ++used_;
  std::uint32_t place = hash(to);
  while (places_[place & mask_].rank >= 0) ++place;
  Peer& peer = places_[place & mask_];
  peer.rank = to;
  return peer.sum;
}

bool SentTally::grow() noexcept {
  const std::uint32_t capacity = arrays_.empty() ? kFirstCapacity : 2 * (mask_ + 1);
  std::unique_ptr<Peer[]> places(new (std::nothrow) Peer[capacity]);
  if (places == nullptr) return false;
  for_each_peer([&](const Peer& peer) {
    std::uint32_t place = hash(peer.rank);
    while (places[place & (capacity - 1)].rank >= 0) ++place;
    places[place & (capacity - 1)] = peer;
  });
  try {
    arrays_.push_back(std::move(places));
  } catch (const std::bad_alloc&) {
    return false;
  }
  places_ = arrays_.back().get();
  mask_ = capacity - 1;
  return true;
}

void SentTally::make(std::unique_ptr<SizeClasses>& sizes) noexcept {
  sizes.reset(new (std::nothrow) SizeClasses());
}

}  // namespace tmpi::observe
