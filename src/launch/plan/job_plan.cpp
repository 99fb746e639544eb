#include "launch/plan/job_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "launch/plan/mapping.hpp"
#include "launch/plan/remote_shell.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {
namespace {

NodePlan local_node(const std::string& host, const std::string& executable,
                    const std::vector<std::string>& wrapper) {
  NodePlan node{host, false, wrapper, -1};
  for (const char* word : {executable.c_str(), "--control", "3"}) node.command.emplace_back(word);
  return node;
}

Result<std::vector<std::string>> find_wrapper(const std::vector<std::string>& words) {
  if (words.empty()) return words;
  ProgramPath found = find_program(words.front(), "");
  if (found.path.empty())
    return Failure{fmt::format("--wrapper {}: {}", fmt::join(words, " "), found.problem)};
  std::vector<std::string> command = words;
  command.front() = std::move(found.named);
  return command;
}

// What MPI_UNIVERSE_SIZE is where users, or a batch system, count slots, as they do for other MPIs: one for each core.
int universe_of(const Settings& settings, const std::vector<int>& slots) {
  const std::int64_t ranks_of_slot = settings.per_node > 0 ? 1 : std::max(settings.job.vratio, 1);
  const std::int64_t all = std::accumulate(slots.begin(), slots.end(), std::int64_t{0}) * ranks_of_slot;
  return static_cast<int>(std::min<std::int64_t>(all, std::numeric_limits<int>::max()));
}

}  // namespace

std::string own_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

bool JobPlan::any_remote() const {
  return std::ranges::any_of(nodes, &NodePlan::remote);
}

Result<JobPlan> plan_job(const Settings& settings, const std::string& executable,
                         const Attachment& attachment) {
  const bool attached = !attachment.nodes.empty();
  std::vector<HostSlots> hosts = settings.hosts;
  for (const AttachedNode& node : attachment.nodes) hosts.push_back({node.host, node.slots});
  if (hosts.empty()) hosts.assign(static_cast<std::size_t>(std::max(settings.nodes, 1)), {own_name(), 1});
  std::vector<int> slots;
  slots.reserve(hosts.size());
  for (const HostSlots& host : hosts) slots.push_back(settings.per_node > 0 ? settings.per_node : host.slots);
  const Result<std::vector<std::string>> wrapper = find_wrapper(settings.wrapper);
  if (!wrapper) return wrapper.failure();
  JobPlan plan;
  plan.executable = executable;
  plan.key = attachment.key;
  plan.starter_output.reset(attachment.output);
  plan.node_of = settings.placed_on;
  if (plan.node_of.empty()) plan.node_of = map_ranks(settings.job.total_ranks(), slots, settings.map_by);
  plan.first_ranks = settings.job.total_ranks();
  // Hosts that get no rank are left alone, and node processes are numbered without them.
  std::vector<int> number(hosts.size(), -1);
  for (const int node : plan.node_of) number[static_cast<std::size_t>(node)] = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const int channel = attached ? attachment.nodes[i].channel : -1;
    if (number[i] < 0) {
      if (channel >= 0) plan.unneeded.push_back({hosts[i].host, true, {}, channel, static_cast<int>(i)});
      continue;
    }
    number[i] = plan.size();
    plan.slots.push_back(slots[i]);
    if (channel >= 0) {
      plan.nodes.push_back({hosts[i].host, true, {}, channel, static_cast<int>(i)});
      continue;
    }
    if (attached || settings.hosts.empty() || is_here(hosts[i].host)) {
      plan.nodes.push_back(local_node(hosts[i].host, executable, *wrapper));
      continue;
    }
    Result<std::vector<std::string>> command =
        remote_command(settings.launch_agent, hosts[i].host, executable, settings.wrapper);
    if (!command) return command.failure();
    plan.nodes.push_back({hosts[i].host, true, *std::move(command)});
  }
  for (int& node : plan.node_of) node = number[static_cast<std::size_t>(node)];
  if (attached || settings.per_node > 0 || std::ranges::any_of(hosts, &HostSlots::given))
    plan.universe = universe_of(settings, plan.slots);
  return plan;
}

}  // namespace tmpi::launch
