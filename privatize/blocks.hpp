// Blocks: which rank a piece of memory belongs to, by address (large_blocks.hpp). Any thread; no function waits for long.
//
// A signal handler may map and unmap memory on a thread that is just in here, or in malloc. So nothing here allocates by
// malloc, and a thread that is in here already does nothing: what it adds then is nobody's and stays where it is, and
// what it takes away is taken for its rank's until the addresses are added again: pages go to a node where nobody wants
// them, and nothing worse.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/spinlock.hpp"

namespace tmpi::privatize {

/// Memory for nodes of a map, by mmap. Not thread-safe.
class NodePool {
 public:
  NodePool() noexcept = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;
  ~NodePool();
  /// All of one size, at least a pointer's. Null: there is no memory.
  void* take(std::size_t bytes) noexcept;
  void give_back(void* node) noexcept;

 private:
  struct Free {
    Free* next;
  };
  bool extend() noexcept;
  Free* free_ = nullptr;
  Free* chunks_ = nullptr;  // the first bytes of each are used for the list of them
  std::byte* unused_ = nullptr;
  std::size_t left_ = 0;
};

template <class T>
struct NodeAllocator {
  using value_type = T;
  explicit NodeAllocator(NodePool& nodes) noexcept : pool(&nodes) {}
  template <class U>
  NodeAllocator(const NodeAllocator<U>& other) noexcept : pool(other.pool) {}
  T* allocate(std::size_t) {  // a map asks for one
    void* const node = pool->take(sizeof(T));
    if (node == nullptr) throw std::bad_alloc();
    return static_cast<T*>(node);
  }
  void deallocate(T* node, std::size_t) noexcept { pool->give_back(node); }
  template <class U>
  bool operator==(const NodeAllocator<U>& other) const noexcept {
    return pool == other.pool;
  }
  NodePool* pool;
};

class Blocks {
 public:
  /// [begin, begin + bytes) is `rank`'s from now on, whatever was known of it. Without memory to note it, nobody's.
  void add(std::uintptr_t begin, std::size_t bytes, int rank) noexcept;

  /// The block that was added with this beginning is nobody's any more, if there is one.
  void remove(std::uintptr_t begin) noexcept;

  /// [begin, begin + bytes) is nobody's any more; what a block has before it, or behind, stays its rank's. True if any of
  /// it was somebody's.
  bool cut(std::uintptr_t begin, std::size_t bytes) noexcept;

  /// Calls use(begin, bytes) for each block of the rank. Without the lock: whoever allocates does not wait for it.
  template <class Use>
  void for_each_of(int rank, Use&& use) noexcept {
    std::array<std::pair<std::uintptr_t, std::size_t>, 16> some;
    std::uintptr_t next = 0;
    for (;;) {
      std::size_t count = 0;
      {
        const std::lock_guard guard(*this);
        for (auto at = blocks_.lower_bound(next); at != blocks_.end() && count < some.size(); ++at) {
          next = at->first + 1;
          if (at->second.rank == rank) some[count++] = {at->first, at->second.bytes};
        }
      }
      for (std::size_t i = 0; i < count; ++i) use(some[i].first, some[i].second);
      if (count < some.size()) return;
    }
  }

  // Also around fork(2): the child has none of the threads that may hold the lock. By a thread that has it already, too.
  void lock() noexcept;
  void unlock() noexcept;

 private:
  struct Block {
    std::size_t bytes;
    int rank;
  };
  bool cut_locked(std::uintptr_t begin, std::uintptr_t end) noexcept;
  void note(std::uintptr_t begin, Block block) noexcept;

  SpinLock lock_;
  NodePool pool_;
  using Node = NodeAllocator<std::pair<const std::uintptr_t, Block>>;
  // By beginning; none overlaps another.
  std::map<std::uintptr_t, Block, std::less<>, Node> blocks_{Node(pool_)};
};

}  // namespace tmpi::privatize
