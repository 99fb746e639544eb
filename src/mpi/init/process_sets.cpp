#include "mpi/init/process_sets.hpp"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "mpi/rank/rank.hpp"
#include "sched/machine/hardware.hpp"

namespace tmpi::mpi {
namespace {

GroupPtr world_set() {
  const World& world = *current_rank().started_with;
  return Group::range(world.first, world.size);
}

GroupPtr self_set() {
  return Group::range(current_rank().world_rank, 1);
}

// The ranks of the caller's world in this node process that `belongs` accepts.
template <class Belongs>
GroupPtr local_ranks(Belongs&& belongs) {
  std::vector<int> members;
  for (int i = 0; i < job()->local_count(); ++i) {
    const Rank& rank = job()->local_at(i);
    if (rank.started_with == current_rank().started_with && belongs(rank)) members.push_back(rank.world_rank);
  }
  return Group::list(std::move(members));
}

GroupPtr node_set() {
  return local_ranks([](const Rank&) { return true; });
}

// Those that began on one worker: all members see the same set, though ranks may move.
GroupPtr worker_set() {
  const int mine = current_rank().task->home;
  return local_ranks([&](const Rank& rank) { return rank.task->home == mine; });
}

struct ProcessSet {
  const char* name;
  GroupPtr (*members)();
};
constexpr ProcessSet kSets[] = {{"mpi://WORLD", world_set},
                                {"mpi://SELF", self_set},
                                {"mpix://node", node_set},
                                {"mpix://worker", worker_set}};

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

constexpr std::string_view kHwloc = "hwloc://";

// hwloc's number is one of the machine: instances on different machines differ.
int color_of(const sched::Resource& resource) {
  const Placement& placement = job()->placement();
  if (resource.instance < 0) return MPI_UNDEFINED;
  return resource.instance * placement.nodes() + placement.machine_of_node(placement.node());
}

}  // namespace

const std::vector<std::string>& process_set_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ProcessSet& set : kSets) all.emplace_back(set.name);
    return all;
  }();
  return names;
}

GroupPtr process_set(std::string_view name) {
  for (const ProcessSet& set : kSets) {
    if (same_name(set.name, name)) return set.members();
  }
  return nullptr;
}

int resource_color(std::string_view name) {
  if (same_name(name, "mpi_shared_memory")) name = "mpix://node";
  if (const GroupPtr set = process_set(name)) return set->world_rank(0);
  if (same_name(name.substr(0, kHwloc.size()), kHwloc)) name.remove_prefix(kHwloc.size());
  for (const sched::Resource& resource : sched::resources_of_calling_thread()) {
    if (same_name(resource.type, name)) return color_of(resource);
  }
  return MPI_UNDEFINED;
}

std::vector<int> resource_levels() {
  std::vector<int> levels;
  for (const sched::Resource& resource : sched::resources_of_calling_thread())
    levels.push_back(color_of(resource));
  return levels;
}

std::string resource_name(int level) {
  return std::string(kHwloc) + sched::resources_of_calling_thread()[static_cast<std::size_t>(level)].type;
}

std::vector<Info::Entry> resource_entries() {
  std::vector<Info::Entry> entries = {{"mpix://node", "true"}, {"mpix://worker", "true"}};
  for (const sched::Resource& resource : sched::resources_of_calling_thread())
    entries.emplace_back(std::string(kHwloc) + resource.type, resource.instance >= 0 ? "true" : "false");
  return entries;
}

}  // namespace tmpi::mpi
