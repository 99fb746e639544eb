// Verbs as a Reconnection: siblings, other queue pairs to a peer with buffers of another size. The first queue pair stays:
// it serves get(), and is what a sibling for small messages is.
#include <algorithm>
#include <cstring>
#include <utility>

#include "net/verbs/verbs.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr std::size_t kMostPools = 20;
constexpr std::uint32_t kSiblingDepth = 96;
constexpr std::uint32_t kSiblingSendBuffers = 8;

static_assert(sizeof(Connect) <= sizeof(Endpoint));

}  // namespace

// Null: too many, or the adapter has no more.
FramePool* Verbs::pool_for(std::size_t payload) noexcept {
  for (const auto& pool : pools_)
    if (pool->payload == payload) return pool.get();
  if (pools_.size() >= kMostPools || payload > kLargestPayload) return nullptr;
  const FramePool& first = *pools_.front();
  FrameSizes sizes;
  sizes.payload = payload;
  sizes.credits = std::min(frames_of(payload), first.credits);
  sizes.depth = std::min(kSiblingDepth, first.depth);
  sizes.peers = static_cast<std::uint32_t>(std::max<std::size_t>(1, links_.size() - 1));
  sizes.send_buffers = kSiblingSendBuffers;
  auto made = std::make_unique<FramePool>();
  if (!made->create(*device_, sizes)) return nullptr;
  pools_.push_back(std::move(made));
  return pools_.back().get();
}

bool Verbs::prepare(int peer, std::size_t eager, Endpoint& mine) noexcept {
  Link& first = *links_[static_cast<std::size_t>(peer)];
  Switch& change = switches_[static_cast<std::size_t>(peer)];
  if (!first.up() || change.next != nullptr || change.old != nullptr || hub_.closing) return false;
  const bool small = eager <= pools_.front()->payload;
  // A link is sent by and received from in one direction each: not the same one again.
  if (small ? &first.sending() == &first : first.sending().pool().payload == eager) return false;
  Connect end;
  if (small) {
    first.keep_back();
    change.next = &first;
  } else {
    FramePool* const pool = pool_for(eager);
    if (pool == nullptr) return false;
    auto sibling = std::make_unique<Link>(hub_, *pool, first);
    if (!sibling->make_sibling(end)) {
      sibling.reset();
      if (pool->users == 0 && pool != pools_.front().get())
        std::erase_if(pools_, [pool](const auto& each) { return each.get() == pool; });
      return false;
    }
    change.next = sibling.get();
    first.siblings.push_back(std::move(sibling));
  }
  note_memory();
  std::memcpy(mine.bytes.data(), &end, sizeof end);
  return true;
}

bool Verbs::connect(int peer, const Endpoint& theirs) noexcept {
  const Switch& change = switches_[static_cast<std::size_t>(peer)];
  Connect end;
  std::memcpy(&end, theirs.bytes.data(), sizeof end);
  if (change.next == nullptr) return false;
  if (change.next == links_[static_cast<std::size_t>(peer)].get()) return end.queue_pair == 0;
  return change.next->connect_sibling(end);
}

void Verbs::send_by_new(int peer) noexcept {
  Link& first = *links_[static_cast<std::size_t>(peer)];
  Switch& change = switches_[static_cast<std::size_t>(peer)];
  if (change.next == nullptr) return;
  change.old = &first.sending();
  first.send_by(*change.next);
}

void Verbs::receive_by_new(int peer) noexcept {
  const Switch& change = switches_[static_cast<std::size_t>(peer)];
  if (change.next != nullptr) change.next->release();
}

void Verbs::retire_old(int peer) noexcept {
  Switch& change = switches_[static_cast<std::size_t>(peer)];
  Link* const old = std::exchange(change.old, nullptr);
  change.next = nullptr;
  if (old == nullptr || old == links_[static_cast<std::size_t>(peer)].get()) return;
  old->retire();
  retiring_.push_back(old);
}

void Verbs::drop_new(int peer) noexcept {
  Link& first = *links_[static_cast<std::size_t>(peer)];
  Switch& change = switches_[static_cast<std::size_t>(peer)];
  Link* const next = std::exchange(change.next, nullptr);
  if (next == nullptr) return;
  if (next == &first) {
    first.release();
  } else {
    destroy_sibling(first, *next);
  }
}

// Those whose last completions have come.
void Verbs::retire_siblings() noexcept {
  std::erase_if(retiring_, [this](Link* sibling) {
    if (!sibling->retired()) return false;
    destroy_sibling(*links_[static_cast<std::size_t>(sibling->peer())], *sibling);
    return true;
  });
}

void Verbs::destroy_sibling(Link& first, Link& sibling) noexcept {
  for (std::vector<Link*>* const list :
       {&hub_.waiting, &hub_.owing, &hub_.failing, &hub_.released, &hub_.goodbyes})
    std::erase(*list, &sibling);
  FramePool* const pool = &sibling.pool();
  std::erase_if(first.siblings, [&](const auto& each) { return each.get() == &sibling; });
  if (pool->users > 0 || pool == pools_.front().get()) return;
  std::erase_if(pools_, [&](const auto& each) { return each.get() == pool; });
}

void Verbs::note_memory() noexcept {
  most_bytes_ = std::max(most_bytes_, receive_buffers().bytes);
}

Transport::ReceiveBuffers Verbs::receive_buffers() const noexcept {
  ReceiveBuffers buffers;
  for (const auto& pool : pools_) buffers.bytes += pool->bytes();
  buffers.most_bytes = std::max(most_bytes_, buffers.bytes);
  buffers.pools = static_cast<int>(pools_.size());
  return buffers;
}

}  // namespace tmpi::net::verbs
