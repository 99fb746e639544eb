// StateDumps: asks the node processes where their ranks are, and shows what they answer as one state dump, for
// SIGUSR1, SIGQUIT and --timeout.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "launch/launcher/job_end.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/launcher/state_dump_request.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/report/output.hpp"

namespace tmpi::launch {

class StateDumps {
 public:
  StateDumps(const JobPlan& plan, bool rank_pids, const NodeSet& nodes, JobEnd& end, Output& output)
      : plan_(plan), rank_pids_(rank_pids), nodes_(nodes), end_(end), output_(output) {}

  /// Asks all that run. `then_kill`: the node processes are killed when all have answered, or after kStateDumpWait;
  /// they send their end reports before the answer.
  void request(const std::string& title, bool then_kill);
  /// Hands a signal to the ranks. Where one handles it, it is theirs alone: nothing is shown, of no node process.
  void request_unless_handled(int signal, const std::string& title);
  /// Hands the stacks of all ranks to `asker`, as text, when all have answered.
  void request_stacks(StateDumpRequest::Asker asker);
  /// Hands a packed JobFigures to `asker`. `program`: the job's.
  void request_figures(std::string program, StateDumpRequest::Asker asker);
  /// kStacks, kFigures: what belongs to the node process's next answer.
  void add_stacks(const Node& node, std::string_view payload);
  void add_figures(const Node& node, std::string_view payload);
  /// An answer (the payload of kStateDump). `handled`: a rank there handles the signal.
  void answered(const Node& node, std::string_view payload, bool handled);
  /// A node process has ended, and will not answer any more.
  void node_ended(const Node& node);
  /// The node processes are about to be killed: shows what has been answered so far.
  void show_incomplete();

 private:
  void ask(StateDumpRequest request, std::uint16_t detail);
  StateDumpRequest* oldest_that_waits_for(int node);
  void finish_complete();
  void show(const StateDumpRequest& request);
  std::string processes() const;

  const JobPlan& plan_;
  const bool rank_pids_;
  const NodeSet& nodes_;
  JobEnd& end_;
  Output& output_;
  std::deque<StateDumpRequest> requests_;  // that wait for answers; a node process answers in their order
};

}  // namespace tmpi::launch
