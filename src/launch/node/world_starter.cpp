#include "launch/node/world_starter.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/started_alone.hpp"
#include "mpi/base/placement.hpp"
#include "mpi/rank/spawned.hpp"
#include "observe/recording.hpp"
#include "privatize/rank_directory.hpp"
#include "sched/waiter.hpp"

namespace tmpi::launch {
namespace {

// Where MPI looks: in the directories of `path`, then as tmpirun does. From `wdir`, if that is given.
ProgramPath find_command(const WorldApp& app) {
  std::string_view rest = app.path;
  while (!rest.empty() && app.command.find('/') == std::string::npos) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    if (folder.empty()) continue;
    if (ProgramPath found = find_program(folder + "/" + app.command, app.wdir); !found.path.empty())
      return found;
  }
  return find_program(app.command, app.wdir);
}

// A rank cannot start there; empty: it can.
std::string problem_of_directory(const std::string& wdir) {
  if (wdir.empty()) return {};
  std::error_code error;
  if (!std::filesystem::is_directory(wdir, error))
    return fmt::format("wdir {}: there is no such directory", wdir);
  return access(wdir.c_str(), X_OK) == 0
             ? ""
             : fmt::format("wdir {}: it cannot be entered: {}", wdir, strerror(errno));
}

}  // namespace

mpi::SpawnOutcome WorldStarter::spawn(const mpi::Rank& root, const mpi::SpawnOrder& order) {
  SpawnRequest request;
  request.link = order.link;
  for (const mpi::SpawnCommand& command : order.commands) {
    request.apps.push_back(
        {command.ranks, command.command, command.arguments, command.wdir, command.path, command.host});
  }
  mpi::SpawnOutcome outcome;
  std::int64_t wanted = 0;
  for (const auto& app : request.apps) wanted += app.ranks;
  if (wanted > mpi::Placement::kMostAdded) {  // tmpirun knows how many there are already
    outcome.problems.emplace_back(
        -1, fmt::format("a job can start {} ranks in all beyond those it began with, and {} are wanted",
                        mpi::Placement::kMostAdded, wanted));
    return outcome;
  }
  // What tmpirun sends to the node processes is a little longer: a number for each rank.
  std::size_t bytes = pack(request).size() + 1024;
  for (const auto& app : request.apps) bytes += 8 * static_cast<std::size_t>(app.ranks);
  if (bytes > kMaxPayload) {
    outcome.problems.emplace_back(
        -1, fmt::format("the commands and arguments are longer than {} MiB in all", kMaxPayload >> 20));
    return outcome;
  }
  sched::Waiter waiter(1);
  {
    const std::lock_guard guard(mutex_);
    request.request = requests_++;
    pending_[request.request] = {&waiter, &outcome};
  }
  Control::instance()->send(FrameType::kSpawn, root.world_rank, 0, pack(request));
  // Not noted as a wait for other ranks: what comes next comes from tmpirun, so that this is no deadlock.
  waiter.wait();
  return outcome;
}

void WorldStarter::on_frame(const Frame& frame) {
  if (frame.header.type == FrameType::kWorld) {
    Result<WorldSpec> spec = unpack_world_spec(frame.payload);
    if (spec) return on_world(*std::move(spec));
    return Control::instance()->report_end(EndKind::kStartFailed, -1, 1, spec.message());
  }
  const Result<WorldStart> start = unpack_world_start(frame.payload);
  if (start) return on_start(*start);
  Control::instance()->report_end(EndKind::kStartFailed, -1, 1, start.message());
}

// Loading takes milliseconds, and more from a slow file system: a thread of its own, so that output, input and signals
// do not wait.
void WorldStarter::on_world(WorldSpec spec) {
  auto part = std::make_unique<Part>();
  part->spec = std::move(spec);
  Part* const mine = part.get();
  {
    const std::lock_guard guard(mutex_);
    parts_[mine->spec.number] = std::move(part);
  }
  const auto work = [this, mine] {
    WorldReady ready;
    ready.number = mine->spec.number;
    try {
      make_ready(*mine, ready.problems);
    } catch (const std::bad_alloc&) {
      ready.problems.emplace_back(-1, fmt::format("host {} has no memory for it", mpi_.host()));
    } catch (const std::exception& error) {  // as of a start directory that is gone
      ready.problems.emplace_back(-1, fmt::format("on host {}: {}", mpi_.host(), error.what()));
    }
    ready.has_ranks = !mine->ranks.empty();
    Control::instance()->send(FrameType::kWorldReady, -1, 0, pack(ready));
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error& error) {
    const WorldReady ready{
        mine->spec.number,
        {{-1, fmt::format("cannot start a thread on host {}: {}", mpi_.host(), error.what())}}};
    Control::instance()->send(FrameType::kWorldReady, -1, 0, pack(ready));
  }
}

void WorldStarter::make_ready(Part& part, WorldProblems& problems) {
  const std::lock_guard one(loading_);
  load_programs(part, problems);
  if (!problems.empty()) return;
  if (const Result<void> made = make_ranks(part); !made)
    problems.emplace_back(-1, fmt::format("on host {}: {}", mpi_.host(), made.message()));
}

void WorldStarter::load_programs(Part& part, WorldProblems& problems) {
  const WorldSpec& spec = part.spec;
  std::vector<int> images(spec.wanted.apps.size(), 0);
  for (int rank = 0; rank < spec.total_ranks(); ++rank)
    images[static_cast<std::size_t>(spec.app_of(rank))] +=
        spec.node_of[static_cast<std::size_t>(rank)] == node_.node ? 1 : 0;
  for (std::size_t index = 0; index < spec.wanted.apps.size(); ++index) {
    part.programs.emplace_back();
    if (images[index] == 0) continue;
    const WorldApp& app = spec.wanted.apps[index];
    const auto refuse = [&](const std::string& why) {
      problems.emplace_back(static_cast<int>(index),
                            node_.nodes() == 1 ? why : fmt::format("on host {}: {}", mpi_.host(), why));
    };
    if (const std::string problem = problem_of_directory(app.wdir); !problem.empty()) {
      refuse(problem);
      continue;
    }
    const ProgramPath found = find_command(app);
    if (found.path.empty()) {
      refuse(found.problem);
      continue;
    }
    std::vector<std::string> arguments = {app.command};
    arguments.insert(arguments.end(), app.arguments.begin(), app.arguments.end());
    Result<LoadedProgram> loaded = load_({found.path, std::move(arguments)}, app.wdir, images[index]);
    if (!loaded) {
      refuse(loaded.message());
      continue;
    }
    if (loaded->group->needs_exec_stack()) {
      refuse(fmt::format("{} needs an executable stack, which a program that is spawned cannot have",
                         found.path));
      continue;
    }
    part.programs.back() = *std::move(loaded);
  }
}

// As --vratio has it: those of a world are spread over the workers, neighbours together, and go where the fewest are.
std::vector<int> WorldStarter::workers_for(int ranks) const {
  std::vector<int> load;
  load.reserve(static_cast<std::size_t>(scheduler_.workers()));
  for (int worker = 0; worker < scheduler_.workers(); ++worker) load.push_back(scheduler_.residents(worker));
  std::vector<int> chosen;
  for (int i = 0; i < ranks; ++i) {
    const auto emptiest = std::ranges::min_element(load);
    ++*emptiest;
    chosen.push_back(static_cast<int>(emptiest - load.begin()));
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::string> WorldStarter::environment_of(const mpi::Rank& rank, int local, int locals) const {
  std::vector<std::string> lines = {
      fmt::format("TMPI_COMM_WORLD_RANK={}", rank.world_rank - rank.started_with->first),
      fmt::format("{}={}", kWorldSizeVariable, rank.started_with->size),
      fmt::format("TMPI_LOCAL_RANK={}", local), fmt::format("TMPI_LOCAL_SIZE={}", locals)};
  lines.insert(lines.end(), variables_.begin(), variables_.end());
  return lines;
}

Result<void> WorldStarter::make_ranks(Part& part) {
  const WorldSpec& spec = part.spec;
  auto world = std::make_unique<mpi::World>();
  world->number = spec.number;
  world->first = spec.first;
  world->size = spec.total_ranks();
  if (!mpi::unpack_link(spec.wanted.link, *world)) return Failure{"its description is cut short"};
  part.ranks = mpi_.add_world(std::move(world), spec.node_of).second;
  const int here = static_cast<int>(part.ranks.size());
  if (here == 0) return {};
  const std::vector<int> workers = workers_for(here);
  std::vector<int> images(spec.wanted.apps.size(), 0);
  std::vector<sched::Scheduler::NewTask> tasks;
  for (int local = 0; local < here; ++local) {
    mpi::Rank& rank = *part.ranks[static_cast<std::size_t>(local)];
    const auto app = static_cast<std::size_t>(spec.app_of(rank.world_rank - spec.first));
    const WorldApp& wanted = spec.wanted.apps[app];
    const LoadedProgram& program = part.programs[app];
    part.starts.push_back(std::make_unique<RankStart>(
        RankStart{this, program.group.get(), &wanted, rank.world_rank, images[app]++, program.arguments,
                  environment_of(rank, local, here)}));
    tasks.push_back({workers[static_cast<std::size_t>(local)], &run_rank, part.starts.back().get(), &rank});
  }
  const Result<int> first = scheduler_.add(tasks);
  if (!first) {
    part.ranks.clear();
    return first.failure();
  }
  for (int local = 0; local < here; ++local)
    part.ranks[static_cast<std::size_t>(local)]->task =
        const_cast<sched::Task*>(&scheduler_.task(*first + local));
  if (observe::Recording* recording = observe::Recording::instance()) recording->admit(scheduler_);
  mpi_.publish(part.ranks);
  return {};
}

void WorldStarter::on_start(const WorldStart& start) {
  const bool runs = start.problems.empty() && start.first >= 0;
  Pending asked{};
  {
    const std::lock_guard guard(mutex_);
    if (const auto part = parts_.find(start.number); part != parts_.end()) {
      // A node process that none of it runs on stays as quiescent as it was.
      if (runs && !part->second->ranks.empty() && prepare_ != nullptr) prepare_();
      for (const mpi::Rank* rank : part->second->ranks) {
        if (rank->task == nullptr) continue;  // there was no memory for it
        runs ? scheduler_.start(*rank->task) : scheduler_.drop(*rank->task);
      }
    }
    if (const auto found = pending_.find(start.request);
        found != pending_.end() && mpi_.local(start.root) != nullptr) {
      asked = found->second;
      pending_.erase(found);
    }
  }
  if (asked.waiter == nullptr) return;
  asked.outcome->first = runs ? start.first : -1;
  asked.outcome->problems = start.problems;
  asked.waiter->complete();
}

mpi::StartInfo WorldStarter::start_info(const mpi::Rank& rank) {
  const std::lock_guard guard(mutex_);
  const auto part = parts_.find(rank.started_with->number);
  mpi::StartInfo info;
  if (part == parts_.end()) return info;
  const WorldSpec& spec = part->second->spec;
  info.app_number = spec.app_of(rank.world_rank - spec.first);
  const WorldApp& app = spec.wanted.apps[static_cast<std::size_t>(info.app_number)];
  info.entries.emplace_back("command", app.command);
  info.entries.emplace_back("argv", fmt::format("{}", fmt::join(app.arguments, " ")));
  info.entries.emplace_back("maxprocs", std::to_string(app.ranks));
  info.entries.emplace_back("soft", std::to_string(app.ranks));
  info.entries.emplace_back("wdir", app.wdir.empty() ? wdir_ : app.wdir);
  return info;
}

void WorldStarter::run_rank(void* argument) {
  RankStart& start = *static_cast<RankStart*>(argument);
  const auto cannot = [&](const std::string& why) {
    Control::instance()->end_job(
        EndKind::kStartFailed, start.rank, 1,
        fmt::format("rank {} on host {}: {}", start.rank, start.starter->mpi_.host(), why));
  };
  Result<void> mapped;
  try {
    mapped = start.program->map_image(start.image, start.rank);
  } catch (const std::bad_alloc&) {
    no_memory_for("its copy of the program's data");
  }
  if (!mapped) cannot(mapped.message());
  if (!start.app->wdir.empty() && !privatize::choose_directory(start.rank, start.app->wdir.c_str()))
    cannot(fmt::format("wdir {} cannot be entered: {}", start.app->wdir, strerror(errno)));
  const ult::Stack& stack = sched::current()->stack;
  privatize::tell_stack(start.rank, stack.base, stack.size);
  // Moved: run_image() does not return, a copy would stay for ever, and there might be no memory for it.
  start.program->run_image(start.image, start.arguments, std::move(start.environment));
}

}  // namespace tmpi::launch
