#include "launch/attach/slurm_allocation.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/fd.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;

// A positive number at the beginning of `text`, which is taken off.
bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() && number >= 1;
}

// The first of the names that is set to something.
std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty()) return found->second;
  }
  return {};
}

// What `scontrol show hostnames` prints; empty if it fails (it has said why).
std::string host_names(const std::string& list) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    dup2(theirs.get(), STDOUT_FILENO);
    execlp("scontrol", "scontrol", "show", "hostnames", list.c_str(), static_cast<char*>(nullptr));
    fmt::print(stderr, "tmpirun: cannot run scontrol: is Slurm's client in PATH?\n");
    _exit(127);
  }
  theirs.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ours.get(), buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status == 0 ? text : std::string();
}

}  // namespace

bool slurm_is_needed(const Environment& environment) {
  if (first_of(environment, {"SLURM_JOB_ID", "SLURM_JOBID"}).empty()) return false;
  if (first_of(environment, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}).empty()) return false;
  const bool single = first_of(environment, {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) == "1";
  const bool on_it = !first_of(environment, {"SLURMD_NODENAME"}).empty();
  return !(single && on_it);
}

std::vector<int> expand_counts(const std::string& text) {
  std::vector<int> counts;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    int count = 0;
    int times = 1;
    bool fine = take_number(part, count);
    if (fine && !part.empty()) {
      fine = part.starts_with("(x") && part.ends_with(")");
      if (fine) part = part.substr(2, part.size() - 3);
      fine = fine && take_number(part, times) && part.empty();
    }
    if (!fine || static_cast<std::size_t>(times) > kMostNodes - counts.size()) return {};
    counts.insert(counts.end(), static_cast<std::size_t>(times), count);
  }
  return counts;
}

Result<SlurmAllocation> read_allocation(const Environment& environment) {
  SlurmAllocation allocation;
  allocation.job = first_of(environment, {"SLURM_JOB_ID", "SLURM_JOBID"});
  const std::string list = first_of(environment, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  std::istringstream names(host_names(list));
  for (std::string name; names >> name;) allocation.nodes.push_back({name, 1});
  if (allocation.nodes.empty()) {
    return Failure{
        fmt::format("`scontrol show hostnames {}` does not name the nodes of Slurm's job {}. Pass --nodes 1 "
                    "to run on this "
                    "machine only.",
                    list, allocation.job)};
  }
  const bool tasks = !first_of(environment, {"SLURM_NTASKS", "SLURM_NPROCS"}).empty();
  const std::vector<int> slots =
      expand_counts(tasks ? first_of(environment, {"SLURM_TASKS_PER_NODE"})
                          : first_of(environment, {"SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"}));
  for (std::size_t node = 0; node < allocation.nodes.size() && node < slots.size(); ++node)
    allocation.nodes[node].slots = slots[node];
  return allocation;
}

}  // namespace tmpi::launch
