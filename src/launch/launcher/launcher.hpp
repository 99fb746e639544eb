// Launcher: runs one job from tmpirun's side. One thread, one poll loop: the node processes' control channels
// and pipes, stdin, signals (through a signalfd), tmpirun's own outputs, and a few deadlines. It never blocks
// anywhere else, so a signal is always served.
//
// Sources: launcher.cpp the loop, launcher_frames.cpp what node processes say, launcher_rest.cpp when all of
// them stand still, launcher_end.cpp how the job ends and what is said of it.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/launcher/node.hpp"
#include "launch/launcher/picture_request.hpp"
#include "launch/launcher/stall_rounds.hpp"
#include "launch/options/options.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/report/output.hpp"
#include "launch/report/profile_report.hpp"
#include "launch/system/descendants.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class Launcher {
 public:
  /// `settings` with the programs' paths already resolved; it, `output` and `profile` must outlive the
  /// launcher. `signals`: a signalfd for handled_signals(), which are blocked.
  Launcher(const Settings& settings, JobPlan plan, Output& output, ProfileReport& profile, int signals);

  /// Runs the job to its end; no process is left. Returns tmpirun's exit code.
  int run();

  /// What the signalfd must cover.
  static std::vector<int> handled_signals();

 private:
  using Clock = std::chrono::steady_clock;

  /// Why the job ends early. The first cause wins; it decides exit code and message.
  enum class Cause {
    kNone,
    kNodeReported,
    kNodeDied,
    kConnectionLost,
    kRule,
    kSignal,
    kTimeout,
    kOutputGone,
    kOutputFailed,
    kProtocol
  };

  /// A node process says that another one does not answer. Mostly the consequence of something that tmpirun
  /// is about to hear of, so it waits for that a little.
  struct Loss {
    int node;
    std::string text;
    Clock::time_point deadline;
  };

  // launcher.cpp
  Result<void> start_nodes();
  void send_jobs();
  void poll_once();
  void watch(std::vector<pollfd>& requests, bool take_more) const;
  int poll_timeout() const;
  void serve(Node& node, const pollfd* requests, bool take_more);
  void on_signals();
  void on_signal(int signal);
  void on_stdin();
  void on_pipe(Node& node, int stream);
  void on_starter_gone();
  void on_deadlines();
  void forgive(Clock::duration pause);
  void stop_and_continue();
  void send_signs_of_life(bool last);
  void write_output(int rank, int stream, std::string_view bytes);
  void check_outputs();
  void drain_after_death();

  // launcher_frames.cpp
  void on_control(Node& node);
  void on_frame(Node& node, const Frame& frame);
  void on_hello(Node& node, const Frame& frame);
  void on_address(Node& node, const Frame& frame);
  void on_exits(Node& node, const Frame& frame);
  void on_uses_mpi(Node& node);
  void on_lost(const Node& node, const Frame& frame);
  void on_end(Node& node, const Frame& frame);
  void on_picture(const Node& node, const Frame& frame);
  void check_leaving();

  // launcher_rest.cpp
  void on_at_rest(const Node& node, const Frame& frame);
  void on_resting(const Node& node, const Frame& frame);
  void on_standing(const Node& node, const Frame& frame);
  void on_done(Node& node, const Frame& frame);
  void ask_all(FrameType question);

  // launcher_end.cpp
  void request_picture(const std::string& title, bool then_kill);
  void show_picture();
  /// Notes the cause; true if it is the first.
  bool end_job(Cause cause, int code, std::string message);
  /// Node processes other than `except` say their last words and end; they are killed if they do not.
  void end_nodes(const Node* except);
  void kill_nodes();
  std::chrono::seconds time_for_reports() const;  ///< that an ending node process may need
  void judge_ended_nodes();
  void judge(Node& node);
  /// The signal that has killed it, 0: none.
  static int fatal_signal(const Node& node);
  int code_of(const Node& node) const;
  std::string describe_dead(const Node& node) const;
  std::string name_of(const Node& node) const;
  std::string unfinished_ranks(const Node& node) const;
  int finish();
  void wait_for_reader();

  template <class Function>
  void for_each_running(Function&& fn) {
    for (const auto& node : nodes_) {
      if (node->running()) fn(*node);
    }
  }
  int node_of(int rank) const { return plan_.node_of[static_cast<std::size_t>(rank)]; }
  bool several() const { return plan_.size() > 1; }

  const Settings& settings_;
  JobPlan plan_;
  Output& output_;
  ProfileReport& profile_;
  int signals_;
  int ranks_;
  Descendants descendants_;
  std::vector<std::unique_ptr<Node>> nodes_;
  bool jobs_sent_ = false;
  int addresses_ = 0;  // that have come
  bool stdin_wanted_ = false;

  std::vector<bool> ended_;    // per rank: has ended by itself
  int failed_ranks_ = 0;       // with a non-zero code
  int first_failed_ = -1;      // the first of them in time
  int exit_code_ = 0;          // its code
  int left_before_init_ = -1;  // a rank that ended without MPI_Init
  int code_before_init_ = 0;   // its code

  Cause cause_ = Cause::kNone;
  int cause_code_ = 0;
  std::string cause_message_;
  std::optional<Loss> loss_;
  int interrupts_ = 0;
  PictureRequest picture_;
  StallRounds rest_;
  std::vector<std::string> standings_;  // by node process, empty: not known
  std::optional<Clock::time_point> timeout_;
  std::optional<Clock::time_point> sign_of_life_;  // the next one is due; only with other machines
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace tmpi::launch
