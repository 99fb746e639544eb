#include "privatize/blocks.hpp"

#include <sys/mman.h>

#include <atomic>
#include <iterator>

namespace tmpi::privatize {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;

// So often has the calling thread locked, a signal handler on it included. initial-exec: no call, which might allocate.
__attribute__((tls_model("initial-exec"))) thread_local volatile int t_inside = 0;

}  // namespace

NodePool::~NodePool() {
  while (chunks_ != nullptr) {
    Free* const chunk = chunks_;
    chunks_ = chunk->next;
    munmap(chunk, kChunk);
  }
}

bool NodePool::extend() noexcept {
  void* const chunk = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (chunk == MAP_FAILED) return false;
  chunks_ = new (chunk) Free{chunks_};
  constexpr std::size_t kHead = alignof(std::max_align_t);
  unused_ = static_cast<std::byte*>(chunk) + kHead;
  left_ = kChunk - kHead;
  return true;
}

void* NodePool::take(std::size_t bytes) noexcept {
  if (free_ != nullptr) {
    Free* const node = free_;
    free_ = node->next;
    return node;
  }
  if (left_ < bytes && !extend()) return nullptr;
  left_ -= bytes;
  return std::exchange(unused_, unused_ + bytes);
}

void NodePool::give_back(void* node) noexcept {
  free_ = new (node) Free{free_};
}

void Blocks::lock() noexcept {
  t_inside = t_inside + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (t_inside == 1) lock_.lock();
}

void Blocks::unlock() noexcept {
  if (t_inside == 1) lock_.unlock();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_inside = t_inside - 1;
}

void Blocks::note(std::uintptr_t begin, Block block) noexcept {
  try {
    blocks_[begin] = block;
  } catch (const std::bad_alloc&) {  // then it stays where it is
  }
}

bool Blocks::cut_locked(std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (begin >= end) return false;
  bool any = false;
  auto at = blocks_.lower_bound(begin);
  if (at != blocks_.begin()) {
    Block& before = std::prev(at)->second;
    const std::uintptr_t first = std::prev(at)->first, last = first + before.bytes;
    if (last > begin) {
      any = true;
      before.bytes = begin - first;
      if (last > end) note(end, {last - end, before.rank});
    }
  }
  while (at != blocks_.end() && at->first < end) {
    any = true;
    const std::uintptr_t last = at->first + at->second.bytes;
    const int rank = at->second.rank;
    at = blocks_.erase(at);
    if (last > end) note(end, {last - end, rank});
  }
  return any;
}

void Blocks::add(std::uintptr_t begin, std::size_t bytes, int rank) noexcept {
  if (t_inside != 0) return;
  const std::lock_guard guard(*this);
  cut_locked(begin, begin + bytes);
  note(begin, {bytes, rank});
}

void Blocks::remove(std::uintptr_t begin) noexcept {
  if (t_inside != 0) return;
  const std::lock_guard guard(*this);
  blocks_.erase(begin);
}

bool Blocks::cut(std::uintptr_t begin, std::size_t bytes) noexcept {
  if (t_inside != 0) return false;
  const std::lock_guard guard(*this);
  return cut_locked(begin, begin + bytes);
}

}  // namespace tmpi::privatize
