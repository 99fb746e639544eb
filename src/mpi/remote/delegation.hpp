// DelegationQueue: what ranks want done inside of the engine while somebody else is there. Left without a lock, in cells;
// run by whoever is inside, oldest first. docs/design/network.md, "Who is inside".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "mpi/p2p/cell.hpp"
#include "mpi/remote/receives.hpp"
#include "mpi/remote/sends.hpp"

namespace tmpi::mpi::remote {

class DelegationQueue {
 public:
  /// Any thread. False: there is no memory, and nothing is left.
  template <class Body>
  [[nodiscard]] bool leave(const Body& body) noexcept {
    static_assert(std::is_trivially_destructible_v<Body> && alignof(Body) <= alignof(Delegation));
    Message* const cell = take_cell(static_cast<MPI_Count>(sizeof(Delegation) + sizeof(Body)));
    if (cell == nullptr) return false;
    auto* const delegation = new (cell_payload(cell))
        Delegation{nullptr, cell, [](Delegation& self, Sends& sends, Receives& receives) {
                     (*reinterpret_cast<const Body*>(&self + 1))(sends, receives);
                   }};
    new (delegation + 1) Body(body);
    waiting_.fetch_add(1, std::memory_order_relaxed);
    delegation->next = newest_.load(std::memory_order_relaxed);
    // seq_cst pairs with empty(); and release with take(): who takes it sees what it says.
    while (!newest_.compare_exchange_weak(delegation->next, delegation, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
    }
    return true;
  }

  /// seq_cst pairs with leave(), for who has just opened the lock.
  bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }
  /// So many have been left and not been run. Any thread.
  std::uint64_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  /// Inside: runs what has been left.
  void run_all(Sends& sends, Receives& receives) {
    Delegation* oldest = nullptr;
    for (Delegation* delegation = newest_.exchange(nullptr, std::memory_order_acquire);
         delegation != nullptr;) {
      Delegation* const before = delegation->next;
      delegation->next = oldest;
      oldest = delegation;
      delegation = before;
    }
    while (oldest != nullptr) {
      Delegation& delegation = *std::exchange(oldest, oldest->next);
      delegation.run(delegation, sends, receives);
      give_back_cell(delegation.cell);
      waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

 private:
  struct alignas(16) Delegation {  // the body lies behind it
    Delegation* next;
    Message* cell;
    void (*run)(Delegation& self, Sends& sends, Receives& receives);
  };

  std::atomic<Delegation*> newest_{nullptr};
  std::atomic<std::uint64_t> waiting_{0};
};

}  // namespace tmpi::mpi::remote
