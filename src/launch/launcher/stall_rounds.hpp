// StallRounds: whether all node processes stand still with no message on its way between them. Each says when
// it has come to rest, with the numbers of messages that it has sent and received since the start. Numbers of
// different node processes are taken at different times, so sums that agree prove nothing yet: a message may
// have been counted as received before its sender was asked. A second round, begun after the first was
// complete, does: if every node process is still at the same rest, nothing was under way between the rounds
// (Mattern's four counters).
#pragma once

#include <cstdint>
#include <vector>

namespace tmpi::launch {

/// A node process at rest.
struct Rest {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool operator==(const Rest&) const = default;
};

class StallRounds {
 public:
  explicit StallRounds(int nodes) : nodes_(static_cast<std::size_t>(nodes)) {}

  /// Node process `node` has come to rest (again), or has finished: then for good. True: a round of questions
  /// is due, to all that have not finished.
  bool at_rest(int node, Rest rest);
  bool finished(int node, Rest rest);

  enum class Verdict {
    kWait,      ///< for other answers, or until somebody comes to rest
    kAskAgain,  ///< another round of questions is due
    kDeadlock,  ///< nothing can ever move again
  };
  /// Its answer to the question: still at `rest` since it said so, or not (`resting` false).
  Verdict answer(int node, bool resting, Rest rest);

  bool has_finished(int node) const { return nodes_[static_cast<std::size_t>(node)].finished; }

 private:
  struct State {
    bool resting = false;
    bool finished = false;
    bool asked = false;
    Rest rest;
  };
  bool begin_round();

  std::vector<State> nodes_;
  int open_ = 0;      // questions without an answer
  bool held_ = true;  // nobody has moved in this round
};

}  // namespace tmpi::launch
