// LostConnection: a node process says that another one does not answer any more. Mostly that is the consequence of
// something that tmpirun is about to hear of, so it waits for that a little before it becomes the cause of the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/job_end.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/launcher/rank_exits.hpp"

namespace tmpi::launch {

class LostConnection {
 public:
  LostConnection(const NodeSet& nodes, const RankExits& ranks, JobEnd& end)
      : nodes_(nodes), ranks_(ranks), end_(end) {}

  /// `node` has lost node process `lost` (any number), and says why. The first report counts.
  void reported(const Node& node, int lost, std::string_view why);

  /// When expire() has something to do.
  Deadline deadline() const { return loss_ ? Deadline(loss_->deadline) : std::nullopt; }
  /// No better cause has come: it is the cause of the job's end, unless the lost node process had ended as it should, or is
  /// about to die. True: it is.
  bool expire();
  /// tmpirun has not run for so long.
  void extend(Clock::duration pause);

 private:
  struct Loss {
    int node;
    std::string text;
    Clock::time_point deadline;
    Clock::time_point latest;  // however slowly the lost one dies
  };
  const NodeSet& nodes_;
  const RankExits& ranks_;
  JobEnd& end_;
  std::optional<Loss> loss_;
};

}  // namespace tmpi::launch
