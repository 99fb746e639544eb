// tmpi-slurm's main: what tmpirun becomes inside an allocation of Slurm. It opens a port and has srun start
// one task on each node, which is this program again (--node): the task connects to the port and becomes a
// node process. When all are there this program becomes tmpirun again, which runs the job (attachment.hpp).
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "launch/attach/attach_port.hpp"
#include "launch/attach/attach_target.hpp"
#include "launch/attach/attachment.hpp"
#include "launch/attach/exec.hpp"
#include "launch/attach/slurm_allocation.hpp"
#include "launch/system/child_end.hpp"
#include "launch/system/program_path.hpp"
#include "launch/wire/hello.hpp"

extern char** environ;

namespace tmpi::launch {
namespace {

constexpr double kConnectTime = 30;  // seconds that a task tries to connect
constexpr const char* kTargetVariable = "TMPI_ATTACH_TO";

Environment process_environment() {
  Environment all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) all.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return all;
}

// One task on each node of the allocation, with all its processors. What else runs in the allocation does not
// matter (--overlap): it is the user's.
std::vector<std::string> srun_command(const SlurmAllocation& allocation, const std::string& self) {
  const std::size_t nodes = allocation.nodes.size();
  return {"srun",
          fmt::format("--jobid={}", allocation.job),
          fmt::format("--nodes={}", nodes),
          fmt::format("--ntasks={}", nodes),
          "--ntasks-per-node=1",
          "--overlap",
          "--cpu-bind=none",
          "--mpi=none",
          "--export=ALL",
          "--input=none",
          "--output=all",  // through the pipe, which brings the tasks' public keys
          "--kill-on-bad-exit=1",
          "--quiet",
          self,
          "--node"};
}

// The tasks' stdout is `output`, srun's own messages and the tasks' stderr are ours. It is in a group of its own:
// Ctrl-C is tmpirun's.
pid_t start(const std::vector<std::string>& command, const AttachTarget& target, int output) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  dup2(output, STDOUT_FILENO);
  setenv(kTargetVariable, to_text(target).c_str(), 1);
  // Slurm reads options from such variables too; what it gave to this job's shell is not meant for the step.
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET",
                           "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_LABELIO", "SLURM_STDOUTMODE"})
    unsetenv(name);
  execvp(words[0], words.data());
  fmt::print(stderr, "tmpirun: cannot run srun ({}): is Slurm's client in PATH?\n", strerror(errno));
  _exit(127);
}

// The one node of the allocation is the machine that this process runs on. A name that looks different is only a
// port more that is open.
bool is_all_here(const SlurmAllocation& allocation) {
  return allocation.nodes.size() == 1 && allocation.nodes[0].name == own_hello().host;
}

std::string missing_hosts(const SlurmAllocation& allocation, const std::vector<Fd>& channels) {
  std::string hosts;
  for (std::size_t node = 0; node < channels.size(); ++node) {
    if (!channels[node]) hosts += (hosts.empty() ? "" : ", ") + allocation.nodes[node].name;
  }
  return hosts;
}

// Blocks until it has.
std::string end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return how_it_ended(status);
}

// In tmpirun's place. Returns only on failure.
Result<void> start_nodes(char** argv) {
  const Result<SlurmAllocation> allocation = read_allocation(process_environment());
  if (!allocation) return allocation.failure();
  const Result<std::string> self = find_companion("tmpi-slurm");
  if (!self) return self.failure();
  const Result<AttachPort> port = AttachPort::open(is_all_here(*allocation) ? AttachPort::Reach::kThisMachine
                                                                            : AttachPort::Reach::kAnywhere);
  if (!port) return port.failure();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Failure{fmt::format("cannot create a pipe for srun's output: {}", strerror(errno))};
  const Fd output(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = start(srun_command(*allocation, *self), port->target(), theirs.get());
  theirs.reset();
  if (child < 0) return Failure{fmt::format("cannot start srun: {}", strerror(errno))};
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  std::vector<Fd> channels(allocation->nodes.size());
  AnnouncedKeys keys(allocation->nodes.size(), output.get(), STDOUT_FILENO);
  // Without a limit: Slurm may take its time, and says why; the tasks have one.
  const auto outcome = port->gather(channels, 0, keys, handle.get(), 0);
  keys.finish();
  if (outcome != AttachPort::Outcome::kComplete) {
    return Failure{fmt::format(
        "srun {} before the node process{} on {} had connected; what it and they have said is "
        "above. Are tmpi "
        "and the program installed at the same place on all nodes?",
        end_of(child), allocation->nodes.size() == 1 ? "" : "es", missing_hosts(*allocation, channels))};
  }
  Attachment attachment;
  attachment.child = child;
  attachment.output = output.get();
  for (std::size_t node = 0; node < channels.size(); ++node)
    attachment.nodes.push_back(
        {allocation->nodes[node].name, channels[node].release(), allocation->nodes[node].slots});
  return exec_tmpirun(std::move(attachment), port->key(), argv);
}

// A task of srun. Returns only on failure.
Result<void> take_part() {
  const char* text = getenv(kTargetVariable);
  const char* number = getenv("SLURM_NODEID");
  if (text == nullptr || number == nullptr)
    return Failure{"tmpi-slurm is for tmpirun's use: start programs with tmpirun"};
  const Result<AttachTarget> target = target_from_text(text);
  if (!target)
    return Failure{fmt::format("{} does not say where tmpirun is: {}", kTargetVariable, target.message())};
  unsetenv(kTargetVariable);
  const int node = std::atoi(number);
  const Result<net::KeyPair> pair = net::KeyPair::draw();
  if (!pair) return pair.failure();
  // Through srun to tmpi-slurm. One write: lines of different tasks do not mix.
  const std::string line = announcement(static_cast<std::size_t>(std::max(node, 0)), pair->public_key());
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return Failure{fmt::format("cannot write to srun's stdout: {}", strerror(errno))};
  const Result<Attached> attached = attach(*target, *pair, node, kConnectTime);
  if (!attached) return attached.failure();
  return exec_node(attached->channel.get(), attached->key, node);
}

int main(int argc, char** argv) {
  const bool node = argc == 2 && strcmp(argv[1], "--node") == 0;
  const Result<void> failed = node ? take_part() : start_nodes(argv);
  fmt::print(stderr, "{}: {}\n", node ? "tmpi-node" : "tmpirun", failed.message());
  return 1;
}

}  // namespace
}  // namespace tmpi::launch

int main(int argc, char** argv) {
  return tmpi::launch::main(argc, argv);
}
