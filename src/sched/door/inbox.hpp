// Inbox: tasks that other threads have made ready for this worker, and whether somebody is parked here. One
// word says both, so that a worker that finds nothing and parks, and a thread that pushes and looks whether to notify
// it, cannot miss each other:
//
//     0          empty; whoever is inside the worker looks here again
//     kParked    empty; somebody is parked here and has to be notified
//     a Node*    the newest of a list; who was parked has been notified
//
// push(), parked(): any thread, lock-free. The rest: who is inside the worker. Never suspends a fiber.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"
#include "sched/door/system.hpp"

namespace tmpi::sched {

template <class S, class Node>
class BasicInbox {
 public:
  /// One relaxed load of a line that changes only when something comes: a hint, which take() looks at again.
  bool empty() const noexcept { return word_.load(std::memory_order_relaxed) <= kParked; }

  /// Adds a node. True if somebody is parked here, whom the caller has to notify.
  [[nodiscard]] bool push(Node& node) noexcept {
    // A guess instead of a load: the exchange then fetches the line once, for writing. Right whenever the
    // worker waits for us.
    std::uintptr_t old = 0;
    do {
      node.next = old == kParked ? nullptr : reinterpret_cast<Node*>(old);
      // release pairs with take(): the worker sees the link, and whatever was done before the wake-up.
    } while (!word_.compare_exchange_weak(old, reinterpret_cast<std::uintptr_t>(&node),
                                          std::memory_order_release, std::memory_order_relaxed));
    return old == kParked;
  }

  /// Everything that has come, oldest first, linked by `next`; null if nothing has.
  Node* take() noexcept {
    if (empty()) return nullptr;
    // acquire pairs with push().
    return oldest_first(reinterpret_cast<Node*>(word_.exchange(0, std::memory_order_acquire)));
  }

  /// The same for a thread that is not inside, nor keeps the owner from taking everything itself: null also if it has
  /// come in between.
  Node* grab() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_relaxed);
    // acquire pairs with push().
    if (word <= kParked ||
        !word_.compare_exchange_strong(word, 0, std::memory_order_acquire, std::memory_order_relaxed))
      return nullptr;
    return oldest_first(reinterpret_cast<Node*>(word));
  }

  /// Says that somebody is about to sleep here (which may have been said already); false if something has
  /// come. seq_cst pairs with parked(): of what other threads hand over outside of the inbox, either they see
  /// the announcement, or who looks there after it sees what they have left.
  [[nodiscard]] bool announce() noexcept {
    std::uintptr_t expected = 0;
    return word_.compare_exchange_strong(expected, kParked, std::memory_order_seq_cst,
                                         std::memory_order_relaxed) ||
           expected == kParked;
  }
  /// Takes the announcement back. seq_cst pairs with parked(), for who looks for somebody to watch in its
  /// place.
  void retract() noexcept {
    std::uintptr_t expected = kParked;
    word_.compare_exchange_strong(expected, 0, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  /// Has somebody announced to sleep here, and not been notified by push() since? seq_cst pairs with
  /// announce().
  bool parked() const noexcept { return word_.load(std::memory_order_seq_cst) == kParked; }

 private:
  static constexpr std::uintptr_t kParked = 1;  // no node has this address

  static Node* oldest_first(Node* newest) noexcept {
    Node* list = nullptr;
    while (newest != nullptr) {
      Node* older = newest->next;
      newest->next = list;
      list = newest;
      newest = older;
    }
    return list;
  }

  alignas(kCacheLine) typename S::template Atomic<std::uintptr_t> word_{0};
};

}  // namespace tmpi::sched
