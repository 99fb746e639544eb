#include "net/receive_pools.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace tmpi::net {
namespace {

// Populated: a network interface finds its pages when it needs them.
std::byte* take_pages(std::size_t bytes) noexcept {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

void give_pages_back(std::byte* buffer, std::size_t bytes) noexcept {
  munmap(buffer, bytes);
}

}  // namespace

const ReceiveMemory kPages = {take_pages, give_pages_back};

ReceivePools::~ReceivePools() {
  for (Pool& pool : pools_) {
    while (pool.count > 0) drop(pool, take(pool));
  }
}

int ReceivePools::pools() const noexcept {
  return static_cast<int>(
      std::count_if(std::begin(pools_), std::end(pools_), [](const Pool& p) { return p.size != 0; }));
}

// The pool of this size, or a place for one; null if there is none.
ReceivePools::Pool* ReceivePools::find(std::size_t size) noexcept {
  Pool* place = nullptr;
  for (Pool& pool : pools_) {
    if (pool.size == size) return &pool;
    // Pools without connections make room for one that is needed.
    const bool spare = pool.size == 0 || (pool.connections == 0 && pool.count == pool.there);
    if (spare && (place == nullptr || (place->size != 0 && pool.size == 0))) place = &pool;
  }
  return place;
}

// False: there are as many as before.
bool ReceivePools::grow(Pool& pool, std::size_t buffers) noexcept {
  const std::size_t needed = pool.posted + buffers;
  if (bytes_ + (needed - std::min(needed, pool.there)) * pool.size > kMostBytes) return false;
  if (pool.waiting.size() < needed) {
    try {
      std::vector<std::byte*> ring(std::max(needed, 2 * pool.waiting.size()));
      for (std::size_t i = 0; i < pool.count; ++i)
        ring[i] = pool.waiting[(pool.first + i) % pool.waiting.size()];
      pool.waiting = std::move(ring);
      pool.first = 0;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  pool.posted = needed;
  while (pool.there < needed) {
    std::byte* const buffer = memory_.take(pool.size);
    if (buffer == nullptr) {
      shrink(pool, buffers);
      return false;
    }
    ++pool.there;
    bytes_ += pool.size;
    give_back(pool, buffer);
  }
  most_bytes_ = std::max(most_bytes_, bytes_);
  return true;
}

void ReceivePools::drop(Pool& pool, std::byte* buffer) noexcept {
  memory_.give_back(buffer, pool.size);
  --pool.there;
  bytes_ -= pool.size;
}

// Buffers that are used now follow when they are given back.
void ReceivePools::shrink(Pool& pool, std::size_t buffers) noexcept {
  pool.posted -= buffers;
  while (pool.there > pool.posted && pool.count > 0) drop(pool, take(pool));
}

bool ReceivePools::join(Share& share, std::size_t size, std::size_t buffers, bool adapts) noexcept {
  try {
    if (adapts) watched_.reserve(watched_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  Pool* const pool = find(size);
  if (pool == nullptr) return false;
  if (pool->size != size) {
    if (pool->size != 0) shrink(*pool, pool->posted);
    *pool = {};
    pool->size = size;
  }
  // What an earlier connection has left is for this one.
  const std::size_t left = pool->connections == 0 ? pool->posted : 0;
  if (left < buffers && !grow(*pool, buffers - left)) {
    if (pool->connections == 0 && pool->there == 0) *pool = {};
    return false;
  }
  if (left > buffers) shrink(*pool, left - buffers);
  ++pool->connections;
  pool->idle_periods = 0;
  pool->weight = std::min(pool->weight + 1, kMostWeight);
  share = {pool, buffers, 0, adapts};
  if (adapts) watched_.push_back(&share);
  return true;
}

void ReceivePools::leave(Share& share) noexcept {
  if (share.pool == nullptr) return;
  Pool& pool = *share.pool;
  // The last one leaves its buffers: they go with the pool.
  if (--pool.connections > 0) shrink(pool, share.buffers);
  std::erase(watched_, &share);
  share = {};
}

void ReceivePools::need(Share& share, std::size_t messages) noexcept {
  share.most = std::max(share.most, messages);
  if (messages <= share.buffers || share.pool == nullptr) return;
  const std::size_t buffers = std::bit_ceil(messages);
  if (grow(*share.pool, buffers - share.buffers)) share.buffers = buffers;
}

std::byte* ReceivePools::take(Pool& pool) noexcept {
  if (pool.count == 0) return nullptr;
  std::byte* const buffer = pool.waiting[pool.first];
  pool.first = (pool.first + 1) % pool.waiting.size();
  --pool.count;
  return buffer;
}

void ReceivePools::give_back(Pool& pool, std::byte* buffer) noexcept {
  if (pool.there > pool.posted) return drop(pool, buffer);
  pool.waiting[(pool.first + pool.count++) % pool.waiting.size()] = buffer;
}

void ReceivePools::end_period() noexcept {
  for (Share* const share : watched_) {
    if (share->adapts && share->buffers > kLeastShare && 2 * share->most <= share->buffers) {
      const std::size_t less = share->buffers - std::max(kLeastShare, share->buffers / 2);
      shrink(*share->pool, less);
      share->buffers -= less;
    }
    share->most = 0;
  }
  for (Pool& pool : pools_) {
    if (pool.size == 0 || pool.connections > 0 || ++pool.idle_periods <= pool.weight) continue;
    shrink(pool, pool.posted);
    if (pool.there == 0) pool = {};
  }
}

}  // namespace tmpi::net
