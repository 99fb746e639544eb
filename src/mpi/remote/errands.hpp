// Errands: what ranks want done inside of the engine while somebody else is there. Left without a lock, in cells;
// run by whoever is inside, oldest first. docs/network.md, "Who is inside".
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

class Errands {
 public:
  /// Any thread. False: there is no memory, and nothing is left.
  template <class Body>
  [[nodiscard]] bool leave(const Body& body) noexcept {
    static_assert(std::is_trivially_destructible_v<Body> && alignof(Body) <= alignof(Errand));
    Message* const cell = take_cell(static_cast<MPI_Count>(sizeof(Errand) + sizeof(Body)));
    if (cell == nullptr) return false;
    auto* const errand =
        new (cell_payload(cell)) Errand{nullptr, cell, [](Errand& self, Sends& sends, Receives& receives) {
                                          (*reinterpret_cast<const Body*>(&self + 1))(sends, receives);
                                        }};
    new (errand + 1) Body(body);
    waiting_.fetch_add(1, std::memory_order_relaxed);
    errand->next = newest_.load(std::memory_order_relaxed);
    // seq_cst pairs with empty(); and release with take(): who takes it sees what it says.
    while (!newest_.compare_exchange_weak(errand->next, errand, std::memory_order_seq_cst,
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
    Errand* oldest = nullptr;
    for (Errand* errand = newest_.exchange(nullptr, std::memory_order_acquire); errand != nullptr;) {
      Errand* const before = errand->next;
      errand->next = oldest;
      oldest = errand;
      errand = before;
    }
    while (oldest != nullptr) {
      Errand& errand = *std::exchange(oldest, oldest->next);
      errand.run(errand, sends, receives);
      give_back_cell(errand.cell);
      waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

 private:
  struct alignas(16) Errand {  // the body lies behind it
    Errand* next;
    Message* cell;
    void (*run)(Errand& self, Sends& sends, Receives& receives);
  };

  std::atomic<Errand*> newest_{nullptr};
  std::atomic<std::uint64_t> waiting_{0};
};

}  // namespace tmpi::mpi::remote
