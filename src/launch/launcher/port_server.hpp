// PortServer: tmpirun's part in connections (docs/design/dynamic-processes.md): answers what ranks ask about ports and names, or
// has another job's tmpirun answer. tmpirun's one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/job_links.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/ports/port_registry.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class PortServer {
 public:
  enum class Weight : std::uint8_t {
    kDetail,   ///< worth knowing with -v
    kWarning,  ///< unless -q
  };
  using Say = std::function<void(Weight, const std::string&)>;
  /// `program`: what the job runs, for messages.
  PortServer(const JobPlan& plan, const NodeSet& nodes, std::string program, Say say)
      : plan_(plan), nodes_(nodes), program_(std::move(program)), say_(std::move(say)) {}

  /// kPortCall. False: the frame is none of ours.
  bool on_call(const Node& node, const Frame& frame);

  /// Connections with other jobs; null: no rank has asked anything so far.
  JobLinks* links() { return open_ ? &open_->links : nullptr; }
  const JobLinks* links() const { return open_ ? &open_->links : nullptr; }

  Deadline deadline() const;
  void on_deadline();
  /// tmpirun has not run for so long.
  void extend(Clock::duration pause);

 private:
  struct Open {
    Open(std::uint64_t job, PortServer& ports);
    PortRegistry registry;
    JobLinks links;
  };

  // The answer to a rank that accepts, until the rank of another job with which it has been paired has taken that. Without
  // a deadline who accepts does not wait for it any more.
  struct Held {
    PortReply reply;
    std::string port;
    Deadline deadline;
  };

  void call(int rank, const PortRequest& request);
  void hold(const std::string& port, std::vector<PortReply>& replies);
  bool decide(const PortCaller& caller, bool taken);
  void let_go(int rank, const PortRequest& request);
  void give_up_verdicts();
  void accept_again(const Held& held);
  void forget_job(int index);
  void look_up(int rank, const PortRequest& request);
  void open_to_others();
  void say_unreachable(const std::string& what, const std::string& why);
  void answer(PortReply reply);
  void deliver(const PortReply& reply);

  const JobPlan& plan_;
  const NodeSet& nodes_;
  const std::string program_;
  const Say say_;
  std::unique_ptr<Open> open_;                         // with the first call
  std::map<std::pair<int, std::int64_t>, Held> held_;  // by rank of another job and number of its request
  bool said_ = false;
};

}  // namespace tmpi::launch
