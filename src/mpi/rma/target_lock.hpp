// TargetLock: the lock of one member's memory in a window, for MPI_Win_lock: one exclusive holder, or any number of
// shared ones; who has to wait is served in the order of coming. A waiter is a flow of control that sleeps, or a rank
// of another node, which is told. Any thread; nothing here suspends.
#pragma once

#include "base/spinlock.hpp"
#include "mpi/request/wait_list.hpp"

namespace tmpi::mpi {

class TargetLock {
 public:
  /// Who wants the lock: a flow of control, on its stack; or, without a waiter, a rank of another node, on the heap.
  struct Applicant : WaitEntry {
    int rank = 0;  ///< in the window
    bool exclusive = false;
    int peer = 0;  ///< the other node
    Applicant* behind = nullptr;
  };

  /// True: the applicant has it. False: it is in the queue until release() hands it out.
  bool acquire(Applicant& applicant) noexcept;

  /// A holder gives it back. Those that have it now, to be told by the caller; they are out of the queue.
  Applicant* release(bool exclusive) noexcept;

  /// A rank that has the lock, the exclusive one or the shared one that came last; -1: nobody. A guess if others act.
  int holder() const noexcept { return holder_; }

 private:
  bool admits(bool exclusive) const noexcept { return exclusive ? holders_ == 0 : holders_ >= 0; }
  void admit(const Applicant& applicant) noexcept {
    holders_ = applicant.exclusive ? -1 : holders_ + 1;
    holder_ = applicant.rank;
  }

  SpinLock lock_;
  int holders_ = 0;  // shared ones; -1: one exclusive
  int holder_ = -1;
  Applicant* first_ = nullptr;
  Applicant* last_ = nullptr;
};

}  // namespace tmpi::mpi
