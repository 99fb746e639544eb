// DeadlockRounds: finds out with the node processes that none of them can ever go on, and has one of them word the
// report (docs/design/deadlock.md). Only with several node processes; a single one does that by itself.
//
//     kQuiescent      ------->   all are, and the sums agree?            quiescence_rounds.hpp
//     kStillQuiescent <-------   asks all again
//     kQuiescenceAnswer ----->   all have been ever since: a deadlock
//     kWaitForEdgesWanted <---   who waits for whom?
//     kWaitForEdges   ------->   all of that to one of them
//     kExplain        <-------   which ends the job with the report
#pragma once

#include <string>
#include <vector>

#include "launch/launcher/node_set.hpp"
#include "launch/launcher/quiescence_rounds.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class DeadlockRounds {
 public:
  explicit DeadlockRounds(const NodeSet& nodes) : nodes_(nodes), rounds_(nodes.planned()) {}

  /// kQuiescent; kDone (its ranks have ended, it is quiescent for good).
  void on_quiescent(const Node& node, const Frame& frame);
  void on_done(const Node& node, const Frame& frame);
  /// kQuiescenceAnswer.
  void on_answer(const Node& node, const Frame& frame);
  /// kWaitForEdges.
  void on_wait_for_edges(const Node& node, const Frame& frame);

 private:
  void ask_all(FrameType question);

  const NodeSet& nodes_;
  QuiescenceRounds rounds_;
  std::vector<std::string> edges_;  // by node process, empty: not known; no elements: not asked for
};

}  // namespace tmpi::launch
