// What a node process says of its part of the job: at its start and end, where its ranks are, profiles and
// traces, what --check has found.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "check/checker.hpp"
#include "check/functions.hpp"
#include "check/shared_state.hpp"
#include "launch/control/control.hpp"
#include "launch/node/blocking_call.hpp"
#include "launch/node/node_job.hpp"
#include "launch/node/node_network.hpp"
#include "launch/wire/rank_ranges.hpp"
#include "mpi/diagnose/place.hpp"
#include "mpi/save/moments.hpp"
#include "observe/functions.hpp"
#include "observe/observation.hpp"
#include "privatize/runtime_table.hpp"
#include "replay/replay.hpp"
#include "sched/file_calls.hpp"
#include "sched/move.hpp"
#include "sched/offload.hpp"

namespace tmpi::launch {

namespace {

observe::CodePlace describe_code(const void* address) noexcept {
  const privatize::ImageAddress place = privatize::describe_address(address);
  return {place.object, place.offset, place.symbol};
}

std::string readable_size(std::size_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

std::string NodeJob::name() const {
  if (node_.nodes() == 1) return fmt::format("host {}", mpi_->host());
  return fmt::format("node {} on host {}", node_.node, node_.hosts[static_cast<std::size_t>(node_.node)]);
}

// One line for a machine, whatever the number of node processes on it.
void NodeJob::warn_of_sharing() const {
  if (spec_.quiet || node_.share > 0) return;
  const std::string warning =
      share_.shared ? fmt::format(
                          "{} node processes share {} core{}: waiting workers sleep instead of spinning, and "
                          "times will vary",
                          node_.sharers, share_.all, share_.all == 1 ? "" : "s")
                    : oversubscription_warning(layout_, share_.cores, cores_per_worker_);
  if (!warning.empty()) Control::instance()->notice(NoticeKind::kWarning, "warning: " + warning);
  if (spec_.cpus_per_rank > cores_per_worker_) {
    Control::instance()->notice(
        NoticeKind::kWarning,
        fmt::format("warning: --cpus-per-rank {}: {} has {} core{} for the ranks of a worker, which share {}",
                    spec_.cpus_per_rank, name(), cores_per_worker_, cores_per_worker_ == 1 ? "" : "s",
                    cores_per_worker_ == 1 ? "it" : "them"));
  }
}

void NodeJob::report_start() const {
  Control& control = *Control::instance();
  if (spec_.verbose) {
    control.notice(
        NoticeKind::kInfo,
        fmt::format("{}: {} ranks on {} workers, V = {}, stacks of {}, policy {}, balance {}", name(),
                    layout_.ranks, layout_.workers, layout_.vratio, readable_size(scheduler_->stack_size()),
                    spec_.policy, sched::tasks_move() ? spec_.balance : "none"));
    for (const std::unique_ptr<privatize::Group>& program : programs_) {
      if (program == nullptr) continue;
      for (const std::string& sentence : program->replacements())
        control.notice(NoticeKind::kInfo, fmt::format("{}: {}", name(), sentence));
    }
    if (several())
      control.notice(NoticeKind::kInfo, fmt::format("{}: network: {}", name(), describe_network()));
  }
  if (!spec_.report_bindings) return;
  std::vector<std::vector<std::pair<int, int>>> ranks(static_cast<std::size_t>(layout_.workers));
  for (int rank = 0; rank < layout_.ranks; ++rank)
    ranks[static_cast<std::size_t>(layout_.worker_of(rank))].emplace_back(mpi_->local_at(rank).world_rank, 1);
  const std::vector<std::string> bindings = scheduler_->bindings();
  if (sched::tasks_move()) {
    control.notice(NoticeKind::kInfo,
                   fmt::format("{}: ranks move between workers (--balance {}); below is where they begin",
                               name(), spec_.balance));
  }
  for (const std::string& line : scheduler_->progress_bindings())
    control.notice(NoticeKind::kInfo, fmt::format("{}: {}", name(), line));
  for (std::size_t worker = 0; worker < bindings.size(); ++worker) {
    control.notice(NoticeKind::kInfo,
                   fmt::format("{}: {}; {}", name(), bindings[worker], rank_ranges(ranks[worker])));
  }
}

namespace {

// Empty: there were none.
std::string describe_file_calls() {
  const std::uint64_t by_ring = sched::calls_by_ring(), by_pool = sched::calls_by_pool();
  if (by_ring + by_pool == 0) return {};
  const std::string why = sched::why_no_ring();
  return fmt::format("beside the cores: {} system calls on files by io_uring, {} hand-overs to threads{}",
                     by_ring, by_pool, why.empty() ? "" : fmt::format(" (io_uring is not used: {})", why));
}

}  // namespace

void NodeJob::report_end() const {
  if (!spec_.verbose) return;
  std::size_t most = 0;
  int deepest = 0;
  for (int rank = 0; rank < mpi_->local_count(); ++rank) {
    const std::size_t used = scheduler_->stack_high_water(*mpi_->local_at(rank).task);
    if (used > most) {
      most = used;
      deepest = mpi_->local_at(rank).world_rank;
    }
  }
  Control::instance()->notice(
      NoticeKind::kInfo,
      fmt::format("{}: {} switches{}; the deepest stack was rank {}'s with {} KiB of {}", name(),
                  scheduler_->switches(),
                  sched::tasks_move() ? fmt::format(", {} moves between cores", sched::moves()) : "", deepest,
                  most >> 10, readable_size(scheduler_->stack_size())));
  if (const std::string files = describe_file_calls(); !files.empty())
    Control::instance()->notice(NoticeKind::kInfo, fmt::format("{}: {}", name(), files));
}

namespace {

void warn_of(const char* heading, const std::vector<check::Finding>& findings) {
  constexpr std::size_t kMost = 20;
  if (findings.empty()) return;
  std::string text = fmt::format("warning: {}:", heading);
  for (std::size_t i = 0; i < std::min(findings.size(), kMost); ++i) {
    std::vector<std::pair<int, int>> ranks;
    for (const int rank : findings[i].ranks) ranks.emplace_back(rank, 1);
    text += fmt::format("\n  {}: {}", rank_ranges(ranks), findings[i].text);
  }
  if (findings.size() > kMost) text += fmt::format("\n  and from {} other places", findings.size() - kMost);
  Control::instance()->notice(NoticeKind::kWarning, text);
}

}  // namespace

void NodeJob::report_findings() const {
  if (!spec_.quiet && node_.node == 0 && mpi::no_moment_came()) {
    Control::instance()->notice(
        NoticeKind::kWarning,
        "warning: --checkpoint: nothing was saved: the ranks here have never come to an "
        "MPI_Barrier, MPI_Bcast, MPI_Reduce or MPI_Allreduce; call MPIX_Checkpoint instead");
  }
  check::Checker* checker = check::Checker::instance();
  if (checker == nullptr || spec_.quiet) return;
  warn_of("accepted here, but not defined by the MPI report; another MPI may refuse it",
          checker->liberties());
  warn_of("right, but perhaps not what is meant (docs/reference/abi.md)", checker->ambiguities());
  warn_of("races for memory of windows, what comes of them is not defined", checker->races());
  warn_of("not received at MPI_Finalize", checker->unreceived());
  warn_of("not freed at MPI_Finalize", checker->leaks());
}

void NodeJob::warn_of_shared_state() const {
  if (!spec_.check || spec_.quiet || node_.node != 0) return;
  std::map<std::string_view, std::string> names_of;  // by what is shared
  for (const check::SharedState& shared : check::shared_state()) {
    const bool is_used =
        std::ranges::any_of(programs_, [&](const std::unique_ptr<privatize::Group>& program) {
          return program != nullptr && program->own_code_refers_to(shared.name);
        });
    if (!is_used) continue;
    std::string& names = names_of[shared.what];
    names += (names.empty() ? "" : ", ") + std::string(shared.name);
  }
  if (names_of.empty()) return;
  std::string text =
      "warning: the program, or a library of its own, refers to state of libc that the ranks of a node share "
      "(docs/reference/libc-state.md):";
  for (const auto& [what, names] : names_of) text += fmt::format("\n  {}: {}", names, what);
  Control::instance()->notice(NoticeKind::kWarning, text);
}

namespace {

// A call goes through all that have been asked for: the check, the recorder of a profile, what makes a replay, the library.

const void* recorder_or_behind(const char* name) {
  const void* recorder = observe::recorder_of(name);
  return recorder != nullptr ? recorder : replay::version_of(name);
}

const void* behind_check(const char* name) {
  return observe::Observation::instance() != nullptr ? recorder_or_behind(name) : replay::version_of(name);
}

}  // namespace

Result<void> NodeJob::prepare_replay() const {
  const replay::ReplayOptions options{spec_.record_file, spec_.replay_file, spec_.explored_file, node_.node};
  if (!options.any()) return {};
  replay::call_for_times(&privatize::runtime_function);
  privatize::substitute_functions(&replay::version_of);
  return replay::begin(options);
}

void NodeJob::prepare_observation() const {
  if (!spec_.observed()) return;
  observe::go_on_to(&replay::version_of);
  privatize::substitute_functions(&recorder_or_behind);
  observe::Observation::prepare({spec_.profile, !spec_.trace_file.empty(), spec_.trace_buffer});
}

void NodeJob::prepare_check() const {
  if (!spec_.check) return;
  check::go_on_to(&behind_check);
  privatize::substitute_functions([](const char* name) -> const void* {
    const void* checker = check::checker_of(name);
    return checker != nullptr ? checker : behind_check(name);
  });
  check::Checker::begin(&describe_code);
}

void NodeJob::finish_replay(bool early, const SayAtEnd& say) const {
  static constexpr std::string_view kWarning = "warning: ";
  for (const std::string& sentence : replay::finish(early)) {
    const bool warns = sentence.starts_with(kWarning);
    if (warns && spec_.quiet) continue;
    const std::string_view mark = warns ? kWarning : "";
    const std::string where = several() ? name() + ": " : "";
    say(FrameType::kNotice, static_cast<std::uint16_t>(NoticeKind::kWarning),
        fmt::format("{}{}{}", mark, where, sentence.substr(mark.size())));
  }
}

void NodeJob::finish_observation(bool early, const SayAtEnd& say) {
  finish_replay(early, say);
  observe::Observation* observation = observe::Observation::instance();
  if (observation == nullptr) return;
  observe::JobDescription job;
  job.node = node_.node;
  for (const AppSpec& app : spec_.apps) {
    const std::string name = std::filesystem::path(app.program).filename();
    job.program += (job.program.empty() ? "" : ", ") + name;
  }
  job.host = mpi_->host();
  job.workers = scheduler_->bindings();
  job.cores_per_worker = cores_per_worker_;
  job.oversubscribed = scheduler_->oversubscribed();
  job.ended_early = early;
  observation->finish(job, &describe_code, [&](observe::ReportKind kind, std::string_view piece) {
    const FrameType type = kind == observe::ReportKind::kTrace ? FrameType::kTrace : FrameType::kProfile;
    for (; !piece.empty(); piece.remove_prefix(std::min<std::size_t>(piece.size(), kMaxReportPayload)))
      say(type, 0, piece.substr(0, kMaxReportPayload));
  });
}

StateDump NodeJob::state_dump(bool asleep) const {
  StateDump dump;
  for (int local = 0; local < mpi_->local_count(); ++local) {
    const mpi::Rank& rank = mpi_->local_at(local);
    RankState state = RankState::kStarting;
    if (rank.task) {
      switch (rank.task->state.load(std::memory_order_relaxed)) {
        case sched::TaskState::kInit:
          state = RankState::kStarting;
          break;
        case sched::TaskState::kRunning:
          state = RankState::kRunning;
          break;
        case sched::TaskState::kReady:
          state = RankState::kReady;
          break;
        case sched::TaskState::kBlocked:
          state = RankState::kBlocked;
          break;
        case sched::TaskState::kFinished:
          state = RankState::kFinished;
          break;
      }
    }
    RankPlace place{state};
    if (!asleep && state == RankState::kRunning) place.call = blocking_call(sched::os_thread_of(*rank.task));
    // Nothing but that is left where nobody is at work.
    if (asleep && (state == RankState::kRunning || state == RankState::kReady))
      place = {RankState::kPolling, rank.call()};
    // The call stays noted after it has returned; only a blocked rank is surely still inside.
    if (state == RankState::kBlocked) {
      mpi::Place where = mpi::place_of(rank, asleep);
      place = {state, std::move(where.call), std::move(where.detail), where.peer};
    }
    add_rank(dump, rank.world_rank, std::move(place));
  }
  return dump;
}

}  // namespace tmpi::launch
