// tmpi-node's main: receives the job from tmpirun, runs its ranks, and reports.
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "launch/control.hpp"
#include "launch/crash_report.hpp"
#include "launch/node_job.hpp"
#include "launch/program_path.hpp"
#include "launch/version.hpp"
#include "mpi/coll/preferences.hpp"

namespace tmpi::launch {

namespace {

std::vector<PictureEntry> picture() {
  const NodeJob* job = NodeJob::running();
  return job ? job->picture() : std::vector<PictureEntry>{};
}

std::vector<std::string> last_words() {
  NodeJob* job = NodeJob::running();
  return job ? job->finish_observation(true) : std::vector<std::string>{};
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    fmt::print("tmpi-node (tmpi) {}\n", kVersion);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--list-collectives") == 0) {
    fmt::print("{}", mpi::describe_algorithms());
    return 0;
  }
  if (argc != 3 || std::strcmp(argv[1], "--control") != 0) {
    fmt::print(stderr, "tmpi-node: this program is started by tmpirun; run `tmpirun -n N PROGRAM`\n");
    return kExitUsage;
  }
  install_parent_death_handler();
  // Programs whose std::cout is a copy (plain PIE) need the streams constructed before the loader copies
  // them.
  static const std::ios_base::Init streams;
  Control& control = Control::create(std::atoi(argv[2]), &picture);
  control.set_last_words(&last_words);
  Result<JobSpec> spec = control.receive_job();
  control.start();
  if (!spec) control.end_job(EndKind::kStartFailed, -1, 1, spec.message());
  if (const Result<void> known = mpi::prefer_algorithms(spec->coll); !known) {
    control.end_job(
        EndKind::kStartFailed, -1, kExitUsage,
        fmt::format("--coll {}: {}. `tmpirun --coll help` lists all.", spec->coll, known.message()));
  }
  install_crash_handlers();
  const Result<NodeJob*> job = NodeJob::create(*std::move(spec));
  if (!job) control.end_job(EndKind::kStartFailed, -1, kExitCannotRun, job.message());
  (*job)->run();
  control.finish();
}

}  // namespace

}  // namespace tmpi::launch

int main(int argc, char** argv) {
  return tmpi::launch::main(argc, argv);
}
