// JobPlan: how many node processes a job has, where and how each is started, and which ranks it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/attach/attachment.hpp"
#include "launch/options/options.hpp"
#include "launch/system/job_number.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

/// How one node process is started.
struct NodePlan {
  std::string host;                  ///< as the user named it; what this machine calls itself if nobody did
  bool remote = false;               ///< `command` is a remote shell, not the node process itself
  std::vector<std::string> command;  ///< path and arguments
  int channel = -1;                  ///< of one that others have started; -1: it is yet to be started
  int attached_as = -1;              ///< the number under which that one has attached itself
};

struct JobPlan {
  std::vector<NodePlan> nodes;
  std::vector<int> node_of;        ///< by world rank; spawned ones are added
  int first_ranks = 0;             ///< those that the job begins with
  std::vector<int> slots;          ///< by node process: its part of the ranks that are spawned
  int universe = 0;                ///< ranks that there are slots for; 0: nobody has said how many
  std::string executable;          ///< the path of tmpi-node here
  std::vector<NodePlan> unneeded;  ///< node processes that others have started and that get no rank
  Fd starter;                      ///< readable: the launcher that has started tmpirun itself is gone
  Fd starter_output;               ///< what has started the node processes writes its stdout into this pipe
  std::uint64_t ports = number_of_job();
  /// Of a job whose node processes others have started, and which have the key already.
  std::optional<net::JobKey> key;
  int size() const { return static_cast<int>(nodes.size()); }
  bool any_remote() const;
};

/// What this machine calls itself.
std::string own_name();

/// `executable`: the path of tmpi-node here. `attachment`: what others have started, if anything, takes the
/// place of the settings' hosts. Failure: no remote shell, or no such
/// command as --wrapper names.
Result<JobPlan> plan_job(const Settings& settings, const std::string& executable,
                         const Attachment& attachment);

}  // namespace tmpi::launch
