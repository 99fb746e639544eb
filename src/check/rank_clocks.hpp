// RankClocks: what came before what among the ranks of this node process, as far as MPI orders it: a vector clock for each (Mattern), which goes
// with messages, collective calls and what orders one-sided communication. Where it is not sure, something counts as ordered: so nothing is taken for a
// race that is none. They run from the first window on. Any thread; does not suspend.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/match/message.hpp"

namespace tmpi::mpi {
class Job;
}

namespace tmpi::check {

/// Times by local index of ranks; those that are left out are 0.
using Clock = std::vector<std::uint32_t>;
/// `clock` knows all that `other` knows, too.
void join(Clock& clock, const Clock& other);
inline std::uint32_t time_of(int rank, const Clock& clock) noexcept {
  return static_cast<std::size_t>(rank) < clock.size() ? clock[static_cast<std::size_t>(rank)] : 0;
}

class RankClocks {
 public:
  static constexpr int kMostRanks = 2048;  ///< of a node process: a message carries a clock

  /// From now on messages are looked at. With more than kMostRanks ranks nothing happens.
  static void begin();
  /// Null: begin() has not been called, or there are too many ranks.
  static RankClocks* instance() noexcept;

  /// `job`: knows how many of the ranks there are so far; null: all.
  explicit RankClocks(int ranks, const mpi::Job* job = nullptr)
      : job_(job), ranks_(static_cast<std::size_t>(ranks)) {}

  // Ranks by local index.
  /// What the rank knows.
  Clock of(int rank);
  /// `to` learns what the rank knows.
  void tell(int rank, Clock& to);
  /// The rank learns what `from` knows.
  void learn(int rank, const Clock& from);
  /// The rank's time, from which on all that it has done is done.
  std::uint32_t tick(int rank);
  /// All ranks know what the rank has done by that time.
  bool known_to_all(int rank, std::uint32_t time);

  /// A call that the rank has made has returned: messages that have been matched may be complete.
  void receive(int rank);
  /// Or messages that have come may have been seen.
  void see_all(int rank);
  /// Calls of which is not known here who waits for whom: those that tell come before those that hear.
  void tell_everybody(int rank);
  void hear_everybody(int rank);

  // Messages: of a rank to world rank `to`, at `receiver`, -1: elsewhere.
  void sent(int rank, int receiver, const mpi::MatchKey& key);
  void matched(int receiver, const mpi::MatchKey& key);
  /// Messages may be missing from now on.
  void cancelled();

 private:
  struct Known {
    Clock now;
    Clock coming;                          ///< with messages that have been matched
    std::shared_ptr<const Clock> carried;  ///< `now`, for messages; null: none has left since it has changed
  };
  /// Context, source, tag, receiver.
  using Lane = std::tuple<std::uint64_t, int, int, int>;

  Known& known(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  static void add(Known& known, const Clock& more);

  const mpi::Job* const job_;
  SpinLock lock_;
  std::vector<Known> ranks_;
  std::map<Lane, std::deque<std::shared_ptr<const Clock>>> on_the_way_;
  Clock elsewhere_;  ///< what other node processes may know
  Clock everybody_;
  bool some_cancelled_ = false;
};

}  // namespace tmpi::check
