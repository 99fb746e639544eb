// Launcher: runs one job from tmpirun's side. One thread, one poll loop: the node process's control channel
// and pipes, stdin, signals (through a signalfd), tmpirun's own outputs, and a few deadlines. It never blocks
// anywhere else, so a signal is always served.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launch/frames.hpp"
#include "launch/node_process.hpp"
#include "launch/options.hpp"
#include "launch/output.hpp"
#include "launch/picture.hpp"

namespace tmpi::launch {

class Launcher {
 public:
  /// `settings` with the programs' paths already resolved; it and `output` must outlive the launcher.
  /// `signals`: a signalfd for handled_signals(), which are blocked.
  Launcher(const Settings& settings, NodeProcess node, Output& output, int signals);

  /// Runs the job to its end; no process is left. Returns tmpirun's exit code.
  int run();

  /// What the signalfd must cover.
  static std::vector<int> handled_signals();

 private:
  using Clock = std::chrono::steady_clock;

  /// Why the job ends early. The first cause wins; it decides exit code and message.
  enum class Cause { kNone, kNodeReported, kSignal, kTimeout, kOutputGone, kOutputFailed, kProtocol };

  void poll_once();
  int poll_timeout() const;
  void on_signals();
  void on_signal(int signal);
  void on_control();
  void on_frame(const Frame& frame);
  void on_hello(const Frame& frame);
  void on_exits(const Frame& frame);
  void on_end(const Frame& frame);
  void on_picture(const Frame& frame);
  void on_pipe(int stream);
  void on_stdin();
  void on_deadlines();
  void write_output(int rank, int stream, std::string_view bytes);
  void check_outputs();

  void send(FrameType type, std::uint16_t detail, std::string_view payload);
  void flush_control();
  std::chrono::seconds time_for_reports() const;  ///< that an ending node process may need
  void request_picture(const std::string& title, bool then_kill);
  void end_job(Cause cause, int code, std::string message);
  void kill_node();
  void stop_and_continue();

  void drain_after_death();
  int finish();
  std::string describe_dead_node() const;
  std::string unfinished_ranks() const;

  const Settings& settings_;
  NodeProcess node_;
  Output& output_;
  int signals_;
  std::string host_;
  int ranks_;

  FrameReader control_in_;
  std::string control_out_;
  bool control_open_ = true;
  bool pipe_open_[2] = {true, true};
  bool stdin_wanted_ = false;

  std::vector<bool> ended_;  // per rank: has ended by itself
  int failed_ranks_ = 0;     // with a non-zero code
  int first_failed_ = -1;    // the first of them in time
  int exit_code_ = 0;        // its code
  bool done_ = false;        // all ranks have ended

  Cause cause_ = Cause::kNone;
  int cause_code_ = 0;
  std::string cause_message_;
  int interrupts_ = 0;
  bool kill_after_picture_ = false;
  std::string picture_title_;
  std::optional<Clock::time_point> timeout_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace tmpi::launch
