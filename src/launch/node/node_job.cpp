#include "launch/node/node_job.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/numa.hpp"
#include "launch/control/control.hpp"
#include "launch/node/connected_jobs.hpp"
#include "launch/node/deadlock_watch.hpp"
#include "launch/node/held_cores.hpp"
#include "launch/node/migration.hpp"
#include "launch/node/node_network.hpp"
#include "launch/node/openmp_variables.hpp"
#include "launch/node/rank_callbacks.hpp"
#include "launch/node/rank_signals.hpp"
#include "launch/node/rank_sleep.hpp"
#include "launch/node/rank_threads.hpp"
#include "launch/node/slot_watch.hpp"
#include "launch/spec/memory_store.hpp"
#include "launch/system/descriptor_limit.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/process_name.hpp"
#include "launch/system/program_path.hpp"
#include "mpi/base/other_jobs.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/rank/advice.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/remote/remote.hpp"
#include "mpi/tool/controls.hpp"
#include "observe/observation.hpp"
#include "privatize/descriptor_owners.hpp"
#include "privatize/large_blocks.hpp"
#include "privatize/own_limits.hpp"
#include "privatize/processor_time.hpp"
#include "privatize/rank_pid.hpp"
#include "sched/balances.hpp"
#include "sched/machine/topology.hpp"

namespace tmpi::launch {

namespace {

NodeJob* the_node_job = nullptr;
std::atomic<NodeJob*> the_running_job{
    nullptr};  // release in run(), acquire in running(): the control thread sees a complete job

void tell_loader(sched::Task*, sched::Task* to) noexcept {
  privatize::set_running_rank(to ? static_cast<const mpi::Rank*>(to->owner)->world_rank : -1);
}

}  // namespace

NodeJob* NodeJob::instance() noexcept {
  return the_node_job;
}
NodeJob* NodeJob::running() noexcept {
  return the_running_job.load(std::memory_order_acquire);
}

Result<NodeJob*> NodeJob::create(Assignment assignment) {
  // Lives as long as the process: ranks may be anywhere when it ends.
  the_node_job = new NodeJob(std::move(assignment));
  NodeJob& job = *the_node_job;
  if (Result<void> ok = job.enter_directory(); !ok) return ok.failure();
  if (Result<void> ok = job.take_share(); !ok) return ok.failure();
  job.mpi_ = &mpi::Job::create(job.node_.nodes() == 1
                                   ? mpi::Placement(job.spec_.total_ranks())
                                   : mpi::Placement(job.node_.node_of, job.node_.hosts, job.node_.node));
  Control::instance()->input().set_readers(job.input_readers());
  mpi::other_jobs().set_own_id(job.node_.ports);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  raise_descriptor_limit(descriptors.rlim_max);  // it is for all ranks
  privatize::raise_limit_for_ranks_alone(descriptors.rlim_cur);
  job.divide_cores();
  job.layout_ = job.chosen_cores_.empty() ? plan_layout(job.mpi_->local_count(), job.room_for_workers(),
                                                        job.spec_.vratio, job.spec_.workers)
                                          : plan_layout_on(job.chosen_cores_);
  prepare_moments(job.spec_);
  if (Result<void> ok = prepare_slots(job.spec_, job.node_.node, job.stack_size(), *job.mpi_); !ok)
    return ok.failure();
  // The others' addresses come while the programs are being loaded.
  if (job.several()) {
    if (Result<void> ok = open_network(job.spec_, job.node_, job.most_workers()); !ok) return ok.failure();
  }
  if (Result<void> ok = job.prepare_replay(); !ok) return ok.failure();
  job.prepare_observation();
  job.prepare_check();
  job.prepare_following();
  if (Result<void> ok = job.load_programs(); !ok) return ok.failure();
  job.warn_of_shared_state();
  if (job.meets_other_jobs()) {
    if (Result<void> ok = open_to_other_jobs(job.spec_); !ok) return ok.failure();
  }
  if (Result<void> ok = job.create_scheduler(); !ok) return ok.failure();
  if (mpi::remote::active()) {
    const Result<int> workers = join_network(job.node_, *job.scheduler_);
    if (!workers) return workers.failure();
    job.workers_of_all_ = *workers;
  }
  job.warn_of_sharing();
  job.register_with_mpi();
  job.spawn_ranks();
  if (const observe::Observation* observation = observe::Observation::instance()) {
    if (Result<void> ok = observation->begin(*job.scheduler_); !ok) return ok.failure();
  }
  if (!job.spec_.quiet && job.layout_.vratio > 1)
    Control::instance()->set_watch(job.spec_.sleep == "hold" ? &held_core : &held_core_without_hold);
  if (job.layout_.vratio > 1 || job.spec_.preempt != 0)
    watch_slots(*job.scheduler_, {.preempt_milliseconds = job.spec_.preempt, .quiet = job.spec_.quiet});
  job.prepare_spawning();
  job.report_start();
  return &job;
}

// Where ranks may move between NUMA nodes it is written down which memory is whose.
void NodeJob::prepare_following() const {
  const Result<sched::BalanceChoice> balance = sched::parse_balance(spec_.balance);
  if (!balance || balance->kind == sched::BalanceKind::kNone || !spec_.bind) return;
  const Result<sched::Topology> topology = sched::Topology::discover();
  if (!topology || !topology->several_numa_nodes()) return;
  if (numa::is_usable())
    privatize::note_large_blocks();
  else if (spec_.verbose)
    Control::instance()->notice(
        NoticeKind::kInfo, "memory of ranks that move stays on its NUMA node: libnuma.so.1 is not there");
}

Result<void> NodeJob::take_share() {
  if (spec_.cores.empty()) {
    share_ = take_cores(node_.share, node_.sharers, spec_.bind);
    return {};
  }
  std::vector<RankCore> cores;
  for (std::size_t rank = 0; rank < spec_.cores.size(); ++rank) {
    if (node_.node_of_rank(static_cast<int>(rank)) == node_.node) cores.push_back(spec_.cores[rank]);
  }
  Result<std::vector<int>> chosen = take_chosen_cores(cores, spec_.bind);
  if (!chosen)
    return Failure{fmt::format("--rankfile: host {} {}", node_.hosts[static_cast<std::size_t>(node_.node)],
                               chosen.message())};
  chosen_cores_ = *std::move(chosen);
  share_ = take_cores(0, 1, spec_.bind);
  return {};
}

bool NodeJob::runs_here(std::size_t program) const {
  for (int rank = 0; rank < spec_.total_ranks(); ++rank) {
    if (node_.node_of_rank(rank) == node_.node && spec_.app_of(rank) == static_cast<int>(program))
      return true;
  }
  return false;
}

// The process stays in the directory of the first program here. Ranks of others go to theirs (run_rank()).
Result<void> NodeJob::enter_directory() {
  std::error_code unreadable;  // then MPI_INFO_ENV's wdir is empty
  const std::filesystem::path start = std::filesystem::current_path(unreadable);
  bool moved = false;
  wdirs_.resize(spec_.apps.size());
  for (std::size_t i = spec_.apps.size(); i-- > 0;) {
    const std::string& wdir = spec_.apps[i].wdir;
    if (!runs_here(i)) continue;
    if (moved || !wdir.empty()) {
      if (chdir((wdir.empty() ? start : start / wdir).c_str()) != 0)
        return Failure{fmt::format("--wdir {}: cannot change to the directory: {}", wdir, strerror(errno))};
      moved = true;
    }
    wdir_ = wdirs_[i] = std::filesystem::current_path(unreadable).string();
  }
  return {};
}

std::vector<int> NodeJob::input_readers() const {
  std::vector<int> readers;
  for (int i = 0; i < mpi_->local_count(); ++i) {
    const int rank = mpi_->local_at(i).world_rank;
    if (spec_.input_rank == kInputToAll || spec_.input_rank == rank) readers.push_back(rank);
  }
  return readers;
}

int NodeJob::universe_size() const {
  const int workers = several() ? workers_of_all_ : scheduler_->workers();
  const std::int64_t fitting = std::int64_t{workers} * std::max(spec_.vratio, 1);
  const std::int64_t room = node_.universe > 0 ? node_.universe : fitting;
  return static_cast<int>(std::clamp<std::int64_t>(room, mpi_->size(), std::numeric_limits<int>::max()));
}

// A program that spawns gets all cores from the start: workers cannot be added.
int NodeJob::most_workers() const {
  return spec_.workers > 0 ? spec_.workers : std::max(layout_.workers, room_for_workers());
}

// --cpus-per-rank, as far as there are so many cores.
void NodeJob::divide_cores() {
  int wanted = std::max(spec_.cpus_per_rank, 1);
  if (spec_.cpus_per_rank == kByThreads) {
    for (std::size_t i = 0; i < spec_.apps.size(); ++i) {
      if (runs_here(i)) wanted = std::max(wanted, chosen_threads(spec_.apps[i]));
    }
  }
  cores_per_worker_ = std::clamp(share_.cores - progress_cores(), 1, wanted);
}

int NodeJob::room_for_workers() const {
  return std::max(1, (share_.cores - progress_cores()) / cores_per_worker_);
}

// Ranks that are spawned are loaded from tmpirun's first program's point of view: its environment and its profiling
// libraries.
void NodeJob::prepare_spawning() {
  const AppSpec& app = spec_.apps.front();
  starter_ = std::make_unique<WorldStarter>(
      node_, *mpi_, *scheduler_,
      [this, &app](RankProgram named, const std::string& wdir, int images) -> Result<LoadedProgram> {
        if (spec_.migratable)
          return Failure{"ranks of a job with --migratable spawn no others, for which it has no addresses"};
        return load_program(std::move(named), wdir, images, app);
      },
      shared_variables(app), wdir_);
  starter_->set_prepare(&end_quiescence);
  prepare_connected_jobs(node_);
  Control::instance()->set_port_handler(
      [](const Frame& frame) { the_node_job->port_calls_.on_frame(frame); });
  Control::instance()->set_world_handler([](const Frame& frame) {
    const FrameType type = frame.header.type;
    const bool world = type == FrameType::kWorld || type == FrameType::kWorldStart;
    world ? the_node_job->starter_->on_frame(frame) : on_way_frame(frame);
  });
}

sched::Progress NodeJob::progress() const {
  if (node_.nodes() == 1) return sched::Progress::kPoll;
  const auto* chosen = find_choice(sched::kProgressModes, spec_.progress);  // tmpirun has checked the name
  return chosen != nullptr ? chosen->value : sched::Progress::kAuto;
}

int NodeJob::progress_cores() const {
  return progress() == sched::Progress::kCore ? spec_.progress_cores : 0;
}

Result<void> NodeJob::create_scheduler() {
  sched::Options options;
  options.workers = spawns() ? most_workers() : layout_.workers;
  options.tasks = layout_.ranks;
  options.stack_size = stack_size();
  options.stack_ends = stack_ends(*mpi_);
  options.least_stack_size = spec_.stack_size > 0 ? 0 : kLeastDefaultStack;
  options.policy = spec_.policy;
  options.balance = spec_.balance;
  if (const auto* way = find_choice(sched::kFileWays, spec_.file_io))
    options.file_io = {way->value, spec_.file_limit};
  options.thread_name =
      base_name_of(spec_.apps[static_cast<std::size_t>(spec_.app_of(node_.first_rank()))].arguments.front());
  options.bind = spec_.bind;
  options.cores_per_worker = cores_per_worker_;
  options.progress = progress();
  options.progress_cores = spec_.progress_cores;
  if (node_.nodes() > 1) options.progress_numa_node = mpi::remote::numa_node();
  // One of several node processes on a core must not spin there.
  if (share_.shared) {
    options.spin_microseconds = 0;
    if (options.progress == sched::Progress::kCore) options.progress = sched::Progress::kThread;
  }
  options.exec_stacks =
      any_program([](const privatize::Group& program) { return program.needs_exec_stack(); });
  sched::end_at_limits_by([](const std::string& sentence) {
    Control::instance()->end_job(EndKind::kStartFailed, -1, 1, fmt::format("the node process {}", sentence));
  });
  Result<std::unique_ptr<sched::Scheduler>> scheduler = sched::Scheduler::create(options);
  if (!scheduler) return scheduler.failure();
  scheduler_ = *std::move(scheduler);
  scheduler_->set_switch_hook(&tell_loader);
  scheduler_->set_memory_hook([](const sched::Task& task, sched::UseMemory use, void* context) noexcept {
    privatize::for_each_memory_of(static_cast<const mpi::Rank*>(task.owner)->world_rank, use, context);
  });
  if (spec_.deadlock_check)
    watch_for_deadlock(*scheduler_, node_.nodes() > 1, spec_.polling_limit, spec_.quiet);
  // Clocks that show what a rank has run since MPI_Init must run from there on. Everything else of mpix.h
  // measures from a call on, which then switches metering on.
  if (any_program([](const privatize::Group& program) {
        return std::ranges::any_of(std::array{"MPIX_Rtime", "PMPIX_Rtime", "mpix_rtime_", "pmpix_rtime_"},
                                   [&](const char* name) { return program.refers_to(name); });
      }))
    scheduler_->meter_switches();
  // The same of processor time: a rank that asks for the first time in the end wants to know of all.
  if (any_main_refers_to({"clock", "times", "getrusage"})) privatize::count_processor_time();
  return {};
}

void NodeJob::register_with_mpi() {
  mpi::Callbacks callbacks{};
  callbacks.abort_job = [](mpi::Rank& rank, int code, std::string_view text) {
    // The shell sees eight bits; an abort must never look like success.
    Control::instance()->end_job(EndKind::kAborted, rank.world_rank, (code & 0xff) == 0 ? 1 : code & 0xff,
                                 text);
  };
  callbacks.out_of_memory = [](const char* what) noexcept { no_memory_for(what); };
  callbacks.inform = [](const std::string& text) {
    if (the_node_job->spec_.verbose) Control::instance()->notice(NoticeKind::kInfo, text);
  };
  callbacks.rank_of_thread = []() noexcept {
    const int rank = privatize::running_rank();
    return rank < 0 ? nullptr : mpi::job()->local(rank);
  };
  callbacks.initialized = [](mpi::Rank& rank) { the_node_job->on_initialized(rank); };
  callbacks.start_info = [](const mpi::Rank& rank) { return the_node_job->start_info(rank); };
  callbacks.universe_size = [] { return the_node_job->universe_size(); };
  callbacks.spawn = [](const mpi::Rank& root, const mpi::SpawnOrder& order) {
    return the_node_job->starter_->spawn(root, order);
  };
  callbacks.saving = saving_callbacks(spec_);
  callbacks.ports = [](const mpi::Rank& rank, const mpi::PortCall& call) {
    return the_node_job->port_calls_.ask(rank, call);
  };
  mpi::register_callbacks(callbacks);
  if (spec_.check) mpi::note_checked_job();
  std::vector<mpi::tool::Setting> settings;
  for (const OptionValue& option : spec_.options)
    settings.push_back({option.name, option.value, option.help});
  mpi::tool::register_settings(std::move(settings));
  privatize::number_ranks_as_processes(spec_.rank_pids);
  privatize::keep_open_descriptors();
  register_rank_callbacks();
  register_thread_hooks();
  register_sleep_hooks(spec_);
  register_signal_hooks(*scheduler_);
}

void NodeJob::spawn_ranks() {
  mpi::connect_workers(*scheduler_);
  starts_.resize(static_cast<std::size_t>(layout_.ranks));
  std::vector<int> images(spec_.apps.size(), 0);
  for (int local = 0; local < layout_.ranks; ++local) {
    mpi::Rank& owner = mpi_->local_at(local);
    const auto index = static_cast<std::size_t>(spec_.app_of(owner.world_rank));
    const AppSpec& app = spec_.apps[index];
    RankStart& start = starts_[static_cast<std::size_t>(local)];
    start = {this,  programs_[index].get(),
             &app,  owner.world_rank,
             local, spec_.migratable ? owner.world_rank : images[index]++};
    owner.task = &scheduler_->spawn(layout_.worker_of(local), &NodeJob::run_rank, &start, &owner);
  }
}

void NodeJob::run() {
  the_running_job.store(this, std::memory_order_release);
  scheduler_->run();
  if (mpi::remote::active()) leave_network();
  finish_observation(false, [](FrameType type, std::uint16_t detail, std::string_view payload) {
    Control::instance()->send(type, -1, detail, payload);
  });
  report_findings();
  report_end();
  forget_checkpoints();
}

// Where tmpirun is, it does so itself, whatever the end.
void NodeJob::forget_checkpoints() const {
  if (node_.remote && spec_.memory_store != 0) MemoryStore::remove(spec_.memory_store);
}

}  // namespace tmpi::launch
