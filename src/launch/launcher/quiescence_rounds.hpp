// QuiescenceRounds: whether all node processes are quiescent with no message on its way between them. Each says when
// it has become quiescent, with the numbers of messages that it has sent and received since the start. Numbers of
// different node processes are taken at different times, so sums that agree prove nothing yet: a message may have
// been counted as received before its sender was asked. A second round, begun after the first was complete, does:
// if every node process has been quiescent ever since, with the same numbers, nothing was under way between the
// rounds (Mattern's four counters).
#pragma once

#include <cstdint>
#include <vector>

namespace tmpi::launch {

/// Messages to and from other node processes, since the start.
struct MessageCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool operator==(const MessageCounts&) const = default;
};

class QuiescenceRounds {
 public:
  explicit QuiescenceRounds(int nodes) : nodes_(static_cast<std::size_t>(nodes)) {}

  /// Node process `node` has become quiescent (again), or has finished: then for good. True: a round of questions
  /// is due, to all that have not finished.
  bool became_quiescent(int node, MessageCounts counts);
  bool finished(int node, MessageCounts counts);

  enum class Verdict {
    kWait,      ///< for other answers, or until somebody becomes quiescent
    kAskAgain,  ///< another round of questions is due
    kDeadlock,  ///< nothing can ever move again
  };
  /// Its answer to the question: quiescent ever since it said so, or not (`quiescent` false); `counts` now.
  Verdict answer(int node, bool quiescent, MessageCounts counts);

  bool has_finished(int node) const { return nodes_[static_cast<std::size_t>(node)].finished; }

 private:
  struct State {
    bool quiescent = false;
    bool finished = false;
    bool asked = false;
    MessageCounts counts;
  };
  bool begin_round();

  std::vector<State> nodes_;
  int open_ = 0;      // questions without an answer
  bool held_ = true;  // nobody has moved in this round
};

}  // namespace tmpi::launch
