// tmpi-node's main: receives the job from tmpirun, runs its ranks, and reports.
#include <errno.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "base/process_barrier.hpp"
#include "launch/control/control.hpp"
#include "launch/control/control_channel.hpp"
#include "launch/node/crash_report.hpp"
#include "launch/node/deadlock_watch.hpp"
#include "launch/node/library_report.hpp"
#include "launch/node/message_queues.hpp"
#include "launch/node/migration.hpp"
#include "launch/node/node_figures.hpp"
#include "launch/node/node_job.hpp"
#include "launch/node/rank_stacks.hpp"
#include "launch/node/remote_start.hpp"
#include "launch/node/start_again.hpp"
#include "launch/node/supervisor.hpp"
#include "launch/system/key_pipe.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/process_name.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/valgrind.hpp"
#include "launch/system/version.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/p2p/way.hpp"
#include "mpi/save/moments.hpp"
#include "net/transport.hpp"

namespace tmpi::launch {

namespace {

StateDump state_dump() {
  const NodeJob* job = NodeJob::running();
  return job ? job->state_dump() : StateDump{};
}

void end_report(const SayAtEnd& say) {
  NodeJob* const job = NodeJob::running();
  if (job == nullptr) return;
  job->finish_observation(true, say);
  job->forget_checkpoints();
}

/// What only the node process can check: it has the tables.
Result<void> check_names(const JobSpec& job) {
  if (const Result<void> known = mpi::prefer_algorithms(job.coll); !known) {
    return Failure{fmt::format("--coll {}: {}. `tmpirun --coll help` lists all.", job.coll, known.message())};
  }
  return net::check_spec(job.net);
}

/// A node process on another machine.
void prepare_remote(Control& control, Assignment& assignment) {
  const std::string& host = assignment.node.hosts[static_cast<std::size_t>(assignment.node.node)];
  if (const Result<void> taken = enter_surroundings(assignment.node, assignment.job); !taken)
    control.end_job(EndKind::kStartFailed, -1, kExitNotFound, taken.message());
  if (const ProgramPath found = find_programs(assignment.job); found.path.empty())
    control.end_job(EndKind::kStartFailed, -1, found.exit_code,
                    fmt::format("on host {}: {}", host, found.problem));
}

/// Of those that this node process runs.
const AppSpec& first_program(const Assignment& assignment) {
  const int rank = assignment.node.first_rank();
  return assignment.job.apps[static_cast<std::size_t>(std::max(assignment.job.app_of(rank), 0))];
}

[[noreturn]] void run_job(Beginning beginning) {
  enable_process_barrier();  // for the scheduler; here, there is one thread
  name_message_queue_library();
  Control& control = Control::create(std::move(beginning.channel), &state_dump, &rank_stacks);
  control.set_end_report(&end_report);
  control.set_figures(&node_figures);
  control.set_checkpoint_handler(&mpi::save_soon);
  if (beginning.output) control.forward(beginning.output.get(), 1);
  Result<Assignment> assignment = control.receive_job();
  if (assignment && !beginning.again) start_again_if_needed(control, *assignment, beginning.output.get());
  if (assignment) take_guards(assignment->job);
  if (assignment) show_as(first_program(*assignment).arguments);
  if (assignment && assignment->node.nodes() > 1) net::prepare_process(assignment->job.net);
  control.start();
  if (!assignment) control.end_job(EndKind::kStartFailed, -1, 1, assignment.message());
  if (under_valgrind()) control.end_job(EndKind::kStartFailed, -1, kExitUsage, kNotUnderValgrind);
  if (const Result<void> known = check_names(assignment->job); !known)
    control.end_job(EndKind::kStartFailed, -1, kExitUsage, known.message());
  if (assignment->node.remote) prepare_remote(control, *assignment);
  install_crash_handlers();
  const Result<NodeJob*> job = NodeJob::create(*std::move(assignment));
  if (!job) control.end_job(EndKind::kStartFailed, -1, kExitCannotRun, job.message());
  (*job)->run();
  control.finish((*job)->several() ? final_balance() : std::string());
}

/// Neither tmpirun nor a remote shell has started this process: that leaves a PMIx server.
int start_by_pmix(char** argv) {
  if (getenv("PMIX_NAMESPACE") == nullptr || getenv("PMIX_RANK") == nullptr) {
    fmt::print(
        stderr,
        "tmpi-node: this program is started by tmpirun, or by a launcher with a PMIx server, of which the "
        "environment has no trace. Run `tmpirun -n N PROGRAM`, `mpirun -n NODES tmpi-node PROGRAM` (of "
        "Open MPI) or `srun --mpi=pmix tmpi-node PROGRAM`\n");
    return kExitUsage;
  }
  const Result<std::string> executable = find_companion("tmpi-pmix");
  if (executable) {
    execv(executable->c_str(), argv);
    fmt::print(stderr, "tmpi-node: cannot start {}: {}\n", *executable, strerror(errno));
    return kExitCannotRun;
  }
  fmt::print(stderr, "tmpi-node: {}\n", executable.message());
  return kExitNotFound;
}

int run(int argc, char** argv) {
  report_no_memory_by(&report_no_memory);
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    fmt::print("tmpi-node (tmpi) {}\n", kVersion);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--list-collectives") == 0) {
    fmt::print("{}", mpi::describe_algorithms());
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--list-transports") == 0) {
    fmt::print("{}\n{}", mpi::describe_ways(), net::describe_transports());
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--list-ways") == 0) {
    fmt::print("{}", mpi::describe_ways());
    return 0;
  }
  if (argc >= 3 && std::strcmp(argv[1], "--show-libraries") == 0) {
    const Result<std::string> table = describe_libraries({argv + 2, argv + argc});
    if (table) return fmt::print("{}", *table), 0;
    fmt::print(stderr, "tmpirun: {}\n", table.message());
    return kExitCannotRun;
  }
  std::optional<Beginning> again = begin_again({argv, argv + argc});
  const bool attached = argc == 5 && std::strcmp(argv[1], "--attached") == 0;
  const bool remote = argc == 2 && std::strcmp(argv[1], "--remote") == 0;
  if (!again && !remote && !attached && (argc != 3 || std::strcmp(argv[1], "--control") != 0))
    return start_by_pmix(argv);
  if (remote || attached) start_supervised(attached ? std::atoi(argv[2]) : -1);
  install_parent_death_handler();
  // Programs whose std::cout is a copy (plain PIE) need the streams constructed before the loader copies
  // them.
  static const std::ios_base::Init streams;
  if (again) run_job(*std::move(again));
  if (remote) {
    Fd output;
    ControlChannel channel = take_standard_streams(output);
    run_job({std::move(channel), std::move(output)});
  }
  Fd socket(std::atoi(argv[2]));
  if (attached) {
    const Result<net::JobKey> key = take_key(Fd(std::atoi(argv[3])));
    if (!key) {
      fmt::print(stderr, "tmpi-node: {}\n", key.message());
      return kExitUsage;
    }
    run_job({ControlChannel(std::move(socket), *key, std::atoi(argv[4])), {}});
  }
  run_job({ControlChannel(Channel(std::move(socket))), {}});
}

}  // namespace

}  // namespace tmpi::launch

// What is thrown ends in the terminate handler (system/no_memory.hpp), which words it.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  return tmpi::launch::run(argc, argv);
}
