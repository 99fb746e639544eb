// Row: accumulates of several elements do not mix with each other at a target, which other implementations have programs
// expect. Up to kRowPiece bytes, that is: a longer one, as those that come from other nodes in segments, is done piece by
// piece, so that nobody waits for more than a piece, and with turns for the others of its worker.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "mpi.h"
#include "mpi/rma/limits.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {

/// A target's, for the time of a piece. Any thread; nothing suspends.
class RowLock {
 public:
  void lock() noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    lock_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock() noexcept { lock_.unlock(); }
  /// For who has just unlocked and wants it again: lets one who waits have it before, if he is there to take it.
  void give_way() noexcept {
    constexpr int kLongest = 1000;  // some microseconds: his core may be taken from him
    const int before = waiting_.load(std::memory_order_relaxed);
    for (int i = 0; i < kLongest && before > 0 && waiting_.load(std::memory_order_relaxed) >= before; ++i)
      cpu_relax();
  }

 private:
  SpinLock lock_;
  std::atomic<int> waiting_{0};  // relaxed: a hint
};

/// One accumulate of a rank of this process, of elements of `bytes` bytes.
class Row {
 public:
  /// `lock`: null if nobody else accesses the target.
  Row(RowLock* lock, MPI_Count bytes) noexcept
      : lock_(lock), most_(std::max<MPI_Count>(rma::kRowPiece / std::max<MPI_Count>(bytes, 1), 1)) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~Row() {
    if (lock_ != nullptr) lock_->unlock();
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  /// How many of `left` elements, one at least, may be changed before it is asked again. SUSPENDS between pieces.
  MPI_Count piece(MPI_Count left) noexcept {
    if (room_ == 0) {
      if (pieces_++ > 0) next_piece();
      room_ = most_;
    }
    const MPI_Count now = std::min(left, room_);
    room_ -= now;
    return now;
  }
  /// Of those that piece() has allowed so many are left over.
  void give_back(MPI_Count elements) noexcept { room_ += elements; }

 private:
  void next_piece() noexcept {
    if (lock_ != nullptr) lock_->unlock();
    if (pieces_ % rma::kPiecesPerTurn == 0) sched::yield();
    if (lock_ == nullptr) return;
    lock_->give_way();
    lock_->lock();
  }

  RowLock* const lock_;
  const MPI_Count most_;
  MPI_Count room_ = 0;
  unsigned pieces_ = 0;
};

}  // namespace tmpi::mpi
