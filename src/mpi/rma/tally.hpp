// Tally: what the members of a group have told one rank, and whether it has heard from all whom it expects: the posts
// that MPI_Win_start waits for, the completions that MPI_Win_wait waits for. Word may come before it is expected.
// Any thread; await() SUSPENDS, the rest does not.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/request/wait_list.hpp"

namespace tmpi::mpi {

class Tally {
 public:
  /// Member `rank` of `size` has told. Who goes on now, if somebody does: left to the caller, who may be under a lock.
  [[nodiscard]] WaitEntry* tell(int rank, int size) {
    const Held held(*this, size);
    const bool last = counts_[at(rank)]++ < 0 && --missing_ == 0;
    return last ? std::exchange(waits_, nullptr) : nullptr;
  }

  /// Uses up one word of each of these; those that have not told are missing until they do.
  void expect(const std::vector<int>& ranks, int size) {
    const Held held(*this, size);
    for (const int rank : ranks) missing_ += --counts_[at(rank)] < 0;
  }

  /// Nobody is missing.
  bool complete() noexcept {
    const std::scoped_lock guard(lock_);
    return missing_ == 0;
  }

  /// Returns when nobody is missing; `wait` suspends on the waiter that it is given. One flow of control at a time.
  template <class Wait>
  void await(Wait&& wait) {
    WaitingFlow flow;
    bool sleeps;
    {
      const std::scoped_lock guard(lock_);
      sleeps = missing_ > 0;
      if (sleeps) waits_ = &flow;
    }
    if (sleeps) wait(flow.own);
  }

  /// Of these, the ones that are missing; while nobody acts.
  std::vector<int> missing(const std::vector<int>& ranks) const {
    std::vector<int> result;
    for (const int rank : ranks) {
      if (at(rank) < counts_.size() && counts_[at(rank)] < 0) result.push_back(rank);
    }
    return result;
  }

 private:
  static std::size_t at(int rank) noexcept { return static_cast<std::size_t>(rank); }

  // The lock, with counts for `size` members: who finds none makes them while others go on, and the first to bring them
  // wins.
  class Held {
   public:
    Held(Tally& tally, int size) : tally_(tally) {
      tally_.lock_.lock();
      if (!tally_.counts_.empty()) return;
      tally_.lock_.unlock();
      made_.resize(at(size));
      tally_.lock_.lock();
      if (tally_.counts_.empty()) tally_.counts_.swap(made_);
    }
    ~Held() { tally_.lock_.unlock(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Tally& tally_;
    std::vector<int> made_;  // freed without the lock
  };

  SpinLock lock_;
  std::vector<int> counts_;  // by rank, from the first use on; below zero: expected
  int missing_ = 0;
  WaitEntry* waits_ = nullptr;
};

}  // namespace tmpi::mpi
