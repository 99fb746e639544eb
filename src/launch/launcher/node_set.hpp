// NodeSet: all node processes of the job, by number: starts them, and does to all what is to be done to all.
// tmpirun's one thread; never blocks.
#pragma once

#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/launcher/node.hpp"
#include "launch/plan/job_plan.hpp"

namespace tmpi::launch {

class NodeSet {
 public:
  /// `plan` must outlive it. No process is started yet.
  explicit NodeSet(const JobPlan& plan) : plan_(plan) {}

  /// Starts the node processes of the plan, and takes over those that others have started. Failure: one cannot be
  /// started; those before it run.
  Result<void> start();

  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }
  Node& operator[](int number) const { return *nodes_[static_cast<std::size_t>(number)]; }
  /// How many the job has, started or not.
  int planned() const { return plan_.size(); }
  bool several() const { return planned() > 1; }
  int node_of(int rank) const { return plan_.node_of[static_cast<std::size_t>(rank)]; }
  Node& of_rank(int rank) const { return (*this)[node_of(rank)]; }
  /// "node process 2 on host a"; "the node process on host a" if there is only one.
  std::string name_of(const Node& node) const;

  template <class Function>
  void for_each_running(Function&& function) const {
    for (const auto& node : nodes_) {
      if (node->running()) function(*node);
    }
  }
  template <class Question>
  bool any(Question&& question) const {
    return std::ranges::any_of(nodes_, [&](const auto& node) { return question(*node); });
  }
  /// Collects child processes that have ended (SIGCHLD).
  void collect() const;
  /// Does not wait any longer for those that have been stuck in their exit for a while. True: there was one.
  bool leave_stuck() const;
  /// SIGKILL to all that run, and to all that they have started.
  void kill() const;

  /// What poll() is to look at: kPollsPerNode entries for each node process, by number. `take_more`: false while
  /// tmpirun's own output is congested.
  void watch(std::vector<pollfd>& requests, bool take_more) const;
  static constexpr int kPollsPerNode = 3;  ///< control channel, stdout, stderr

 private:
  Channel attached_channel(const NodePlan& node) const;

  const JobPlan& plan_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Channel> unneeded_;  // stay open: the hello of those node processes is never read
};

}  // namespace tmpi::launch
