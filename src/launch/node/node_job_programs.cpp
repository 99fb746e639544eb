// NodeJob's programs: how they are loaded, what they say of themselves, what their ranks find in their environment.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/node/library_report.hpp"
#include "launch/node/migration.hpp"
#include "launch/node/node_job.hpp"
#include "launch/node/openmp_variables.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/started_alone.hpp"
#include "privatize/preload.hpp"

namespace tmpi::launch {

Result<std::vector<std::string>> NodeJob::preloaded_libraries(const AppSpec& app) const {
  const std::string value = value_for(app, "LD_PRELOAD");
  const char* const inherited = getenv("LD_PRELOAD");
  const bool in_process = inherited != nullptr && value == inherited;
  Result<privatize::Preload> preload =
      privatize::read_preload(value, value_for(app, "LD_LIBRARY_PATH"), in_process);
  if (!preload) return preload.failure();
  if (!preload->others.empty() && !in_process && !spec_.quiet) {
    Control::instance()->notice(
        NoticeKind::kWarning,
        fmt::format(
            "warning: -x LD_PRELOAD: {} cannot be found, or must be in the process that runs the ranks; set "
            "LD_PRELOAD for tmpirun itself to have it there",
            fmt::join(preload->others, ", ")));
  }
  return std::move(preload->libraries);
}

Result<void> NodeJob::load_programs() {
  std::vector<int> images(spec_.apps.size(), 0);
  arguments_.resize(spec_.apps.size());
  for (int i = 0; i < layout_.ranks; ++i)
    ++images[static_cast<std::size_t>(spec_.app_of(mpi_->local_at(i).world_rank))];
  for (std::size_t index = 0; index < spec_.apps.size(); ++index) {
    programs_.push_back(nullptr);
    // With slots all node processes load all programs, so that images lie at the same distances everywhere.
    if (images[index] == 0 && !spec_.migratable) continue;
    const AppSpec& app = spec_.apps[index];
    Result<LoadedProgram> loaded = load_program({app.program, app.arguments}, app.wdir, images[index], app);
    if (!loaded) return loaded.failure();
    programs_.back() = std::move(loaded->group);
    arguments_[index] = std::move(loaded->arguments);
  }
  return {};
}

Result<LoadedProgram> NodeJob::load_program(RankProgram named, const std::string& wdir, int images,
                                            const AppSpec& app) const {
  const Result<std::string> shim = find_companion("libtmpi-shim.so");
  if (!shim) return shim.failure();
  Result<RankProgram> program =
      find_rank_program(std::move(named), {wdir, app.environment, value_for(app, "LD_LIBRARY_PATH")});
  if (!program) return program.failure();
  privatize::GroupOptions options;
  options.program = std::move(program->path);
  options.stands_for = std::move(program->stands_for);
  options.images = images;
  options.shim = *shim;
  options.libraries = library_choices(spec_, app);
  Result<std::vector<std::string>> preload = preloaded_libraries(app);
  if (!preload) return preload.failure();
  options.preload = *std::move(preload);
  if (spec_.migratable) {
    const Result<std::string> heap = heap_library();
    if (!heap) return heap.failure();
    options.preload.push_back(*heap);
  }
  if (!program->library.empty()) options.needed.push_back(std::move(program->library));
  Result<std::unique_ptr<privatize::Group>> group = privatize::Group::load(options);
  if (!group) return group.failure();
  return LoadedProgram{*std::move(group), std::move(program->arguments)};
}

// What a program says of itself before it runs: others may still spawn, by a library that they open later.
bool NodeJob::spawns() const {
  return any_main_refers_to(
      {"MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "mpi_comm_spawn_", "mpi_comm_spawn_multiple_"});
}

// The same of connections with other jobs. Who does not need them has no network to look at.
bool NodeJob::meets_other_jobs() const {
  return spec_.other_jobs ||
         any_main_refers_to({"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "PMPI_Comm_accept",
                             "PMPI_Comm_connect", "PMPI_Comm_join", "mpi_comm_accept_", "mpi_comm_connect_",
                             "mpi_comm_join_", "mpi_comm_accept_f08_", "mpi_comm_connect_f08_",
                             "mpi_comm_join_f08_"});
}

bool NodeJob::any_program(bool (*has)(const privatize::Group& program)) const {
  return std::ranges::any_of(programs_, [&](const auto& program) { return program && has(*program); });
}

bool NodeJob::any_main_refers_to(std::initializer_list<std::string_view> names) const {
  return std::ranges::any_of(programs_, [&](const auto& program) {
    return program &&
           std::ranges::any_of(names, [&](std::string_view name) { return program->main_refers_to(name); });
  });
}

mpi::StartInfo NodeJob::start_info(const mpi::Rank& rank) const {
  if (rank.started_with->number > 0) return starter_->start_info(rank);
  const int number = spec_.app_of(rank.world_rank);
  const AppSpec& app = spec_.apps[static_cast<std::size_t>(number)];
  mpi::StartInfo info;
  info.app_number = number;
  info.entries.emplace_back("command", app.arguments.front());
  info.entries.emplace_back("argv", fmt::format("{}", fmt::join(std::span(app.arguments).subspan(1), " ")));
  info.entries.emplace_back("maxprocs", std::to_string(app.ranks));
  info.entries.emplace_back("soft", std::to_string(app.ranks));
  info.entries.emplace_back("wdir", wdirs_[static_cast<std::size_t>(number)]);
  return info;
}

std::vector<std::string> NodeJob::shared_variables(const AppSpec& app) const {
  std::vector<std::string> lines =
      openmp_variables(app, layout_.vratio, spec_.cpus_per_rank == 0 ? 0 : cores_per_worker_);
  lines.insert(lines.end(), app.environment.begin(), app.environment.end());
  return lines;
}

std::vector<std::string> NodeJob::environment_of(int local, const AppSpec& app) const {
  std::vector<std::string> lines = shared_variables(app);
  // Not by fmt: each rank does it on its own stack, whose pages it would touch.
  const auto add = [&lines](const char* name, int value) {
    lines.push_back(std::string(name) + '=' + std::to_string(value));
  };
  add("TMPI_COMM_WORLD_RANK", mpi_->local_at(local).world_rank);
  add(kWorldSizeVariable, mpi_->size());
  add("TMPI_LOCAL_RANK", local);
  add("TMPI_LOCAL_SIZE", layout_.ranks);
  return lines;
}

}  // namespace tmpi::launch
