// SpawnedWorlds: ranks that ranks have asked for (docs/design/dynamic-processes.md): where they go, and when they may run. All
// node processes hear of a world before any of its ranks runs, and none runs unless all can. tmpirun's one thread.
#pragma once

#include <map>
#include <vector>

#include "launch/launcher/node_set.hpp"
#include "launch/launcher/rank_exits.hpp"
#include "launch/spec/world_spec.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class SpawnedWorlds {
 public:
  /// The ranks are added to `plan.node_of`.
  SpawnedWorlds(JobPlan& plan, const NodeSet& nodes, RankExits& ranks)
      : plan_(plan), nodes_(nodes), ranks_(ranks) {}

  /// False: the frame is none of ours.
  bool on_spawn(const Node& node, const Frame& frame);
  bool on_ready(const Node& node, const Frame& frame);
  /// All its ranks have ended: it answers no more.
  void on_done(const Node& node);

 private:
  struct Pending {
    WorldSpec spec;
    WorldProblems problems;
    std::vector<bool> awaited;  // by node process
    int left = 0;
    bool has_ranks = false;  // somewhere
  };
  WorldProblems place(WorldSpec& spec) const;
  std::vector<int> open_to(const WorldApp& app, std::string& problem) const;
  void refuse(Node& node, const WorldSpec& spec, WorldProblems problems) const;
  void answered(std::map<int, Pending>::iterator pending, int node);

  JobPlan& plan_;
  const NodeSet& nodes_;
  RankExits& ranks_;
  std::map<int, Pending> pending_;  // by number
  int worlds_ = 1;                  // tmpirun's own
};

}  // namespace tmpi::launch
