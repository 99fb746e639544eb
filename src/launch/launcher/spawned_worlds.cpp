#include "launch/launcher/spawned_worlds.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace tmpi::launch {
namespace {

constexpr int kMostAdded = 65536;  // mpi::Placement::kMostAdded

bool names(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

// Node processes that may run ranks of `app`.
std::vector<int> SpawnedWorlds::open_to(const WorldApp& app, std::string& problem) const {
  std::vector<int> open;
  bool named = false;
  for (const auto& node : nodes_) {
    const bool here = app.host.empty() || names(app.host, node->host()) ||
                      (!node->remote() && names(app.host, "localhost"));
    named = named || here;
    if (here && node->running() && !node->done) open.push_back(node->number());
  }
  if (open.empty()) {
    problem = named ? fmt::format("the ranks of the node processes on host {} have all ended", app.host)
                    : fmt::format(
                          "the job has no node process on host {}: name it when the job is started (--host)",
                          app.host);
  }
  return open;
}

// Each rank goes where there are the fewest for each slot, the first of these; a program's ranks for one node process are
// neighbours.
WorldProblems SpawnedWorlds::place(WorldSpec& spec) const {
  std::vector<int> load(static_cast<std::size_t>(nodes_.planned()), 0);
  for (std::size_t rank = 0; rank < plan_.node_of.size(); ++rank)
    load[static_cast<std::size_t>(plan_.node_of[rank])] += ranks_.has_ended(static_cast<int>(rank)) ? 0 : 1;
  WorldProblems problems;
  const int room = kMostAdded - (static_cast<int>(plan_.node_of.size()) - plan_.first_ranks);
  int wanted = 0;
  for (std::size_t index = 0; index < spec.wanted.apps.size(); ++index) {
    const WorldApp& app = spec.wanted.apps[index];
    std::string problem;
    const std::vector<int> open = open_to(app, problem);
    if (app.ranks > room - wanted)
      problem = fmt::format("a job can start {} ranks in all beyond those it began with, and {} are taken",
                            kMostAdded, kMostAdded - room);
    if (!problem.empty()) {
      problems.emplace_back(static_cast<int>(index), problem);
      continue;
    }
    wanted += app.ranks;
    std::vector<int> chosen;
    for (int i = 0; i < app.ranks; ++i) {
      const int node = *std::ranges::min_element(open, [&](int one, int other) {
        const auto a = static_cast<std::size_t>(one), b = static_cast<std::size_t>(other);
        return std::int64_t{load[a]} * plan_.slots[b] < std::int64_t{load[b]} * plan_.slots[a];
      });
      ++load[static_cast<std::size_t>(node)];
      chosen.push_back(node);
    }
    std::ranges::sort(chosen);
    spec.node_of.insert(spec.node_of.end(), chosen.begin(), chosen.end());
  }
  return problems;
}

void SpawnedWorlds::refuse(Node& node, const WorldSpec& spec, WorldProblems problems) const {
  node.send(FrameType::kWorldStart, 0,
            pack(WorldStart{-1, -1, spec.root, spec.wanted.request, std::move(problems)}));
}

bool SpawnedWorlds::on_spawn(const Node& node, const Frame& frame) {
  Result<SpawnRequest> request = unpack_spawn_request(frame.payload);
  const int root = frame.header.rank;
  if (!request || root < 0 || static_cast<std::size_t>(root) >= plan_.node_of.size() ||
      nodes_.node_of(root) != node.number())
    return false;
  for (const WorldApp& app : request->apps) {
    if (app.ranks < 0) return false;
  }
  Pending pending;
  pending.spec.wanted = *std::move(request);
  pending.spec.root = root;
  if (WorldProblems problems = place(pending.spec); !problems.empty()) {
    refuse(nodes_[node.number()], pending.spec, std::move(problems));
    return true;
  }
  pending.spec.number = worlds_++;
  pending.spec.first = static_cast<int>(plan_.node_of.size());
  plan_.node_of.insert(plan_.node_of.end(), pending.spec.node_of.begin(), pending.spec.node_of.end());
  ranks_.added();
  pending.awaited.resize(static_cast<std::size_t>(nodes_.planned()));
  const std::string payload = pack(pending.spec);
  nodes_.for_each_running([&](Node& other) {
    if (other.done) return;
    other.send(FrameType::kWorld, 0, payload);
    pending.awaited[static_cast<std::size_t>(other.number())] = true;
    ++pending.left;
  });
  pending_.emplace(pending.spec.number, std::move(pending));
  return true;
}

bool SpawnedWorlds::on_ready(const Node& node, const Frame& frame) {
  Result<WorldReady> ready = unpack_world_ready(frame.payload);
  if (!ready) return false;
  const auto found = pending_.find(ready->number);
  if (found == pending_.end()) return true;
  WorldProblems& problems = found->second.problems;
  for (auto& problem : ready->problems) {  // the same on each host is said once
    if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(std::move(problem));
  }
  found->second.has_ranks = found->second.has_ranks || ready->has_ranks;
  answered(found, node.number());
  return true;
}

void SpawnedWorlds::on_done(const Node& node) {
  for (auto next = pending_.begin(); next != pending_.end();) {
    const auto one = next++;
    Pending& pending = one->second;
    if (!pending.awaited[static_cast<std::size_t>(node.number())]) continue;
    if (std::ranges::find(pending.spec.node_of, node.number()) != pending.spec.node_of.end())
      pending.problems.emplace_back(-1, fmt::format("{} has ended meanwhile", nodes_.name_of(node)));
    answered(one, node.number());
  }
}

void SpawnedWorlds::answered(std::map<int, Pending>::iterator found, int node) {
  Pending& pending = found->second;
  if (!pending.awaited[static_cast<std::size_t>(node)]) return;
  pending.awaited[static_cast<std::size_t>(node)] = false;
  if (--pending.left > 0) return;
  const WorldSpec& spec = pending.spec;
  const bool starts = pending.problems.empty();
  if (!starts && !pending.has_ranks &&
      static_cast<std::size_t>(spec.first) + static_cast<std::size_t>(spec.total_ranks()) ==
          plan_.node_of.size()) {
    plan_.node_of.resize(static_cast<std::size_t>(spec.first));  // the next ones have these numbers
    ranks_.taken_back();
  } else if (!starts) {
    for (int rank = 0; rank < spec.total_ranks(); ++rank) ranks_.never_began(spec.first + rank);
  }
  const std::string payload = pack(WorldStart{spec.number, starts ? spec.first : -1, spec.root,
                                              spec.wanted.request, std::move(pending.problems)});
  nodes_.for_each_running([&](Node& other) {
    if (!other.done) other.send(FrameType::kWorldStart, 0, payload);
  });
  pending_.erase(found);
}

}  // namespace tmpi::launch
