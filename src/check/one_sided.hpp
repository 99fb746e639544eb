// WindowAccesses: what the members of a window do with each other's memory, and what orders it. Two calls that touch the same bytes race unless both
// read, or both are atomic in the same units (MPI report, 12.7), or one has been completed before the other began (rank_clocks.hpp), or a lock keeps
// them apart. Callers lock; does not suspend.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/access.hpp"
#include "check/function.hpp"
#include "check/rank_clocks.hpp"

namespace tmpi::mpi {
class Datatype;
}

namespace tmpi::check {

/// A call of one-sided communication, as its target's memory sees it.
struct OneSidedAccess {
  Access bytes;                         ///< addresses count from the window's displacement 0
  bool atomic = false;                  ///< an accumulate, fetch-and-op or compare-and-swap
  const mpi::Datatype* unit = nullptr;  ///< of these, where predefined; null: not known
  const Function* function = nullptr;   ///< who, and from where
  const void* site = nullptr;
  int rank = 0;             ///< world rank
  int local = 0;            ///< among the ranks of this node process
  int target = 0;           ///< member whose memory the call is about
  bool fenced = false;      ///< between fences
  bool locked = false;      ///< under a lock of the target, which is not left unchecked
  bool exclusive = false;   ///< and nobody else has one
  bool by_request = false;  ///< the call gives a request
  bool returns = false;     ///< data comes back: with it the call is done at the target, too
  std::uint32_t done = 0;   ///< the rank's time when it was complete; 0: it may still be under way
};

/// They may be at the same time and the report does not say what comes of it.
bool race(const OneSidedAccess& a, const OneSidedAccess& b);

class WindowAccesses {
 public:
  enum class Completed : std::uint8_t { kEverywhere, kAtOrigin, kRequests };

  /// To the memory of member `whose`, by a rank that knows `clock`. One that races with it; else nothing. `everybody`: who
  /// may need to know of it, null: it is never forgotten.
  std::optional<OneSidedAccess> add(int whose, const OneSidedAccess& access, const Clock& clock,
                                    RankClocks* everybody);
  /// What the rank (local index) has asked of `target`, -1: of all, is complete at its time `now`.
  void complete(int rank, int target, Completed how, std::uint32_t now);

  std::size_t remembered(int whose) const;  ///< accesses, for tests

  // Who has told what to whom; of members.
  struct Lock {
    Clock exclusive, any;  ///< of those that have unlocked
  };
  std::map<int, Lock> locks;
  Clock of_all;  ///< of those that have unlocked all members
  std::map<int, Clock> posts, completes;
  Clock atomic;              ///< of those that have called atomic functions
  Clock synchronized;        ///< of those that have completed something
  std::map<int, bool> asks;  ///< local ranks that have called such a function and not completed it

 private:
  struct Side {
    std::multimap<std::uint64_t, OneSidedAccess> by_begin;
    std::uint64_t longest = 0;
    std::size_t look_at = 256;  ///< entries with which it is time to forget some
  };
  using Entry = std::multimap<std::uint64_t, OneSidedAccess>::iterator;
  void forget(Side& side, RankClocks& everybody);

  std::map<int, Side> sides_;               // by member; negative: its own buffers
  std::map<int, std::vector<Entry>> open_;  // by local rank: what is not complete
};

}  // namespace tmpi::check
