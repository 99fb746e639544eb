// NodeProcess: the child process of tmpirun behind one node process: the tmpi-node itself, or the remote
// shell that has started it on another machine. With it come the control channel and the pipes behind the
// child's own stdout and stderr (what ranks write past their per-rank streams, and what their child processes
// print; what the remote shell has to say). The child leads a process group of its own and dies with tmpirun.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/launcher/deadlines.hpp"
#include "launch/system/stuck_exit.hpp"
#include "launch/wire/channel.hpp"

namespace tmpi::launch {

class NodeProcess {
 public:
  enum class Place {
    kDescriptor,  ///< the control channel is descriptor 3 of the child
    kStandard,    ///< it is the child's stdin and stdout; output(1) is -1
  };
  /// A node process that somebody else has started, and that has connected by itself (attachment.hpp). There
  /// is no child process behind it: it lasts as long as its channel, and is killed by the end of it.
  static NodeProcess adopt(Channel channel);
  bool adopted() const { return adopted_; }

  /// Runs `command` (a path and arguments) on this machine. All descriptors of ours are non-blocking and
  /// closed on exec.
  static Result<NodeProcess> start(const std::vector<std::string>& command, Place place);
  NodeProcess(NodeProcess&& other) noexcept;
  NodeProcess& operator=(NodeProcess&&) = delete;
  ~NodeProcess();

  pid_t pid() const { return pid_; }
  Channel& control() { return control_; }
  const Channel& control() const { return control_; }
  int output(int stream) const { return output_[stream - 1].get(); }  ///< stream 1 or 2

  /// A signal to the process and everything in its group.
  void signal_group(int signal) const;

  /// Collects the process if it has ended (no wait); true once it has. status() is then waitpid's.
  bool reap();
  /// Since when it is stopped (SIGSTOP and the like), as far as reap() has seen.
  const Deadline& stopped() const { return stopped_; }
  /// A process on this machine is on its way out, at whatever speed.
  bool is_dying() const { return !reaped_ && pid_ > 0 && is_exiting(pid_); }
  /// The process has been stuck in its exit for kExitPatienceHere; see stuck_exit.hpp. To be asked again and again.
  bool is_stuck(ExitWatch::Clock::time_point now);
  /// Does not wait for such a process any longer: as if it had ended.
  void leave_behind();
  /// Ends the channel of an adopted node process, both ways; of another one it does nothing.
  void end_channel() const;
  /// There is no more to read from control(): the end of an adopted node process.
  void channel_ended() { reaped_ |= adopted_; }
  bool reaped() const { return reaped_; }
  int status() const { return status_; }

 private:
  NodeProcess() = default;
  pid_t pid_ = -1;
  Channel control_;
  Fd output_[2];
  bool adopted_ = false;
  bool reaped_ = false;
  int status_ = 0;
  Deadline stopped_;
  ExitWatch exit_{kExitPatienceHere};
  std::optional<int> stuck_status_;  // of the last look at it
};

}  // namespace tmpi::launch
