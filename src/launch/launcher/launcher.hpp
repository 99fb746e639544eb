// Launcher: runs one job from tmpirun's side. One thread, one poll loop: the node processes' control channels and
// pipes, stdin, signals (through a signalfd), tmpirun's own outputs, and a few deadlines. It never blocks anywhere
// else, so a signal is always served. What is done about each event is in the pieces of the job (job.hpp).
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/launcher/frame_handler.hpp"
#include "launch/launcher/job.hpp"
#include "launch/launcher/signal_handler.hpp"
#include "launch/system/descendants.hpp"

namespace tmpi::launch {

/// A job whose ranks go on is run by several launchers, one after the other.
struct Attempt {
  Deadline timeout;  ///< --timeout: of all together
  int in_vain = 0;   ///< how often it has gone on from the same checkpoint
};

class Launcher {
 public:
  static constexpr int kMostInVain = 3;  // attempts from one checkpoint
  /// `settings` with the programs' paths already resolved; it and what is referred to must outlive the launcher.
  /// `signals`: a signalfd for SignalHandler::handled_signals(), which are blocked.
  Launcher(const Settings& settings, JobPlan plan, Output& output, ProfileReport& profile, TraceReport& trace,
           int signals, const Attempt& attempt);

  /// Runs the job to its end; no process is left, but for those that are stuck in their exit (stuck_exit.hpp). Returns tmpirun's exit code.
  int run();
  /// After run(): the ranks have not come to their end, and are to go on; the exit code says nothing then.
  const std::optional<Resumption>& resumption() const { return job_.resumption; }
  /// A checkpoint was written meanwhile.
  bool has_saved() const { return job_.checkpoints.written(); }
  /// What to begin the next one with, but for its deadline.
  int attempts_in_vain() const { return has_saved() ? 0 : attempt_.in_vain + (had_ranks() ? 1 : 0); }

 private:
  void open_door();
  void poll_once();
  void watch(std::vector<pollfd>& requests, bool take_more) const;
  int poll_timeout() const;
  void serve(Node& node, const pollfd* requests, bool take_more);
  void on_start_timeout();
  void on_starter_gone();
  void say_who_is_killed();
  void say_who_is_stopped();
  bool expects_ends() const;
  void leave_stuck();
  void on_deadlines();
  void extend_deadlines(Clock::duration pause);
  void look_at_ended_nodes();
  void on_ended(Node& node);
  void drain_after_death();
  bool nodes_were_lost() const;
  bool survives() const;
  bool had_ranks() const;
  void end_nodes();
  Resumption after_loss() const;
  std::string how_it_goes_on() const;
  int finish();

  const Attempt attempt_;
  Deadline timeout_;
  Job job_;
  FrameHandler frames_;
  SignalHandler signals_;
  Descendants descendants_;
  Clock::time_point looked_for_stuck_;
  Deadline start_timeout_;  // for the hellos of other machines
};

}  // namespace tmpi::launch
