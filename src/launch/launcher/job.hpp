// Job: everything that tmpirun has of one job, in pieces that know each other only as far as their constructors say.
// The launcher's loop (launcher.hpp), frame_handler.hpp and signal_handler.hpp bring events to them.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>

#include "launch/launcher/checkpoints.hpp"
#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/deadlock_rounds.hpp"
#include "launch/launcher/door_questions.hpp"
#include "launch/launcher/heartbeat.hpp"
#include "launch/launcher/job_end.hpp"
#include "launch/launcher/job_start.hpp"
#include "launch/launcher/lost_connection.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/launcher/port_server.hpp"
#include "launch/launcher/rank_exits.hpp"
#include "launch/launcher/resumption.hpp"
#include "launch/launcher/spawned_worlds.hpp"
#include "launch/launcher/state_dumps.hpp"
#include "launch/launcher/stdio.hpp"
#include "launch/neighbours/job_door.hpp"
#include "launch/options/options.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/report/output.hpp"
#include "launch/report/profile_report.hpp"
#include "launch/report/trace_report.hpp"

namespace tmpi::launch {

struct Job {
  /// `given`, `out`, `profiles` and `traces` must outlive it.
  Job(const Settings& given, JobPlan planned, Output& out, ProfileReport& profiles, TraceReport& traces)
      : settings(given), plan(std::move(planned)), output(out), profile(profiles), trace(traces) {}
  Job(const Job&) = delete;  // the pieces point at each other
  Job& operator=(const Job&) = delete;

  const Settings& settings;
  JobPlan plan;
  Output& output;
  ProfileReport& profile;
  TraceReport& trace;
  std::optional<Resumption> resumption;  ///< how the ranks go on when the node processes have ended
  bool report_failed = false;            ///< a trace or a profile that was wanted could not be written

  NodeSet nodes{plan};
  RankExits ranks{plan.node_of};
  JobEnd end{nodes, settings.job.observed() ? kReports : std::chrono::seconds{0}};
  Heartbeat heartbeat{nodes};
  JobStart start{settings, plan, nodes, end, heartbeat};
  Stdio stdio{nodes, output, end, settings.job.input_rank, std::move(plan.starter_output)};
  LostConnection lost{nodes, ranks, end};
  Checkpoints checkpoints{settings, nodes};
  StateDumps state_dumps{plan, settings.job.rank_pids, nodes, end, output};
  DeadlockRounds deadlock{nodes};
  JobDoor door{[this](FrameType question, std::string_view about, int caller) {
    answer_question(*this, question, about, caller);
  }};
  SpawnedWorlds worlds{plan, nodes, ranks};
  PortServer ports{plan, nodes, settings.job.apps.front().arguments.front(),
                   [this](PortServer::Weight weight, const std::string& text) {
                     const bool warning = weight == PortServer::Weight::kWarning;
                     if (warning ? !settings.job.quiet : settings.job.verbose)
                       output.message(fmt::format("tmpirun: {}{}\n", warning ? "warning: " : "", text));
                   }};
};

}  // namespace tmpi::launch
