// Node: what tmpirun knows of one node process, and the channel to it. Never blocks.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/launcher/node_process.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/wire/hello.hpp"

namespace tmpi::launch {

class Node {
 public:
  using Clock = std::chrono::steady_clock;

  Node(int number, const NodePlan& plan, NodeProcess process);

  int number() const { return number_; }
  bool remote() const { return remote_; }
  const std::string& host() const { return host_; }
  NodeProcess& process() { return process_; }
  const NodeProcess& process() const { return process_; }

  /// Puts a frame on its way. A node process that is gone shows when its channel is read.
  void send(FrameType type, std::uint16_t detail, std::string_view payload);
  void flush();
  bool wants_to_send() const { return control_open_ && process_.control().wants_to_send(); }
  bool control_open() const { return control_open_; }
  /// It can be asked something: before it knows its job, it does not know of ranks.
  bool can_be_asked() const { return control_open_ && has_job_; }
  bool has_job() const { return has_job_; }
  int control() const { return control_open_ ? process_.control().in() : -1; }
  /// What has started it has printed more than a login does, and nothing of it was tmpi-node's.
  bool too_noisy() const {
    return process_.control().awaits_preamble() && !control_open_ && diagnostics.size() > kMostNoise;
  }
  /// Nothing more is read from there.
  void close_control();

  /// One read; false: nothing more for now, or the channel has ended.
  bool fill();
  FrameReader::Status next(Frame& frame) { return process_.control().next(frame); }

  /// One read of the child's own stdout or stderr; empty: nothing. See pipe().
  std::string read_pipe(int stream);
  int pipe(int stream) const { return pipe_open_[stream - 1] ? process_.output(stream) : -1; }
  bool anything_open() const { return control_open_ || pipe_open_[0] || pipe_open_[1]; }

  /// Collects the process if it has ended; true the first time that it has.
  bool collect();
  /// Ends the wait for a process that has been stuck in its exit for kExitPatienceHere, as collect() does; looks at it by system
  /// calls. True: it has been left behind.
  bool leave_if_stuck(Clock::time_point now);
  bool running() const { return !process_.reaped(); }
  /// Something has come that has not been read yet, because a slow reader of tmpirun's output comes first.
  bool unread() const;
  /// It has ended, and all it had to say has been heard (or others hold its channel open and say nothing).
  bool silent() const;

  /// When it has been stopped for so long that it should be said.
  Deadline stop_deadline() const {
    return running() && !stop_said && process_.stopped() ? Deadline(*process_.stopped() + kStopPatience)
                                                         : std::nullopt;
  }

  void kill() { process_.signal_group(SIGKILL); }

  // What it has said so far.
  std::optional<Hello> hello;
  std::optional<std::string> address;
  bool done = false;         ///< all its ranks have ended
  bool stop_said = false;    ///< that it is stopped
  bool end_handled = false;  ///< its end has been looked at
  std::string diagnostics;   ///< what the remote shell has printed before the hello

 private:
  int number_;
  bool remote_;
  std::string host_;
  NodeProcess process_;
  bool control_open_ = true;
  bool has_job_ = false;
  bool pipe_open_[2];
  std::optional<Clock::time_point> ended_;
};

}  // namespace tmpi::launch
