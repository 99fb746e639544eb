// Ledger: the collective calls on one communicator, window or file, in order, as far as not all members have come to them.
// Each call is compared with that of the first member that came to the same place in the order. Any rank,
// any thread; does not suspend.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/spinlock.hpp"
#include "check/collective.hpp"
#include "check/one_sided.hpp"

namespace tmpi::check {

class Ledger {
 public:
  /// The ledger of a communicator, or of what has this one of its own; shared by its members in this node process.
  static std::shared_ptr<Ledger> of(std::uint64_t context);
  ~Ledger();

  explicit Ledger(std::uint64_t context) : context_(context) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// A member comes to its collective number `sequence`, which has `members` of them. Returns the call that
  /// was there first if they do not match.
  std::optional<CollectiveCall> arrive(std::uint64_t sequence, int members, const CollectiveCall& call);

  /// Where no order is known: whoever comes there is before whoever goes on behind it.
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  /// A member (local index) comes to its collective number `sequence`, with what it knows.
  void meet(std::uint64_t sequence, RankClocks& clocks, int rank);
  /// It goes on behind it, if it has waited for it, and learns what those know who have come, `members` in all.
  void part(std::uint64_t sequence, int members, RankClocks& clocks, int rank);
  /// The same for one that may not have waited for the others: false if some have not come.
  bool part_if_met(std::uint64_t sequence, int members, RankClocks& clocks, int rank);

  /// Of a window: what its members have done with its memory, while the ledger is locked.
  template <class Do>
  auto with_accesses(Do&& what) {
    const std::lock_guard guard(lock_);
    return what(accesses_);
  }

  /// The library has returned an error to a member. Whether it still took part in the collective is not
  /// known, and so is its place in the order: nothing is compared any more.
  void give_up();

  std::size_t open() const noexcept { return slots_.size(); }  ///< for tests

 private:
  struct Slot {
    CollectiveCall first;
    int arrived = 0;
  };
  const std::uint64_t context_;
  SpinLock lock_;
  std::uint64_t begin_ = 0;  // sequence number of slots_.front()
  std::deque<Slot> slots_;
  bool given_up_ = false;
  struct Passage {
    Clock clock;  ///< of those that have come
    int come = 0, gone = 0;
  };
  std::map<std::uint64_t, Passage> passages_;
  WindowAccesses accesses_;
};

}  // namespace tmpi::check
