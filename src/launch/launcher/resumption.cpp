#include "launch/launcher/resumption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/spec/saved_job.hpp"

namespace tmpi::launch {
namespace {

auto named(std::vector<HostSlots>& hosts, std::string_view host) {
  return std::ranges::find(hosts, host, &HostSlots::host);
}

Failure nobody_left(std::string_view without) {
  return Failure{fmt::format("without {} no host of the job is left", without)};
}

/// Those of a job that was started without naming any, too.
std::vector<HostSlots> hosts_of(const Settings& settings) {
  if (!settings.hosts.empty()) return settings.hosts;
  return std::vector<HostSlots>(static_cast<std::size_t>(std::max(settings.nodes, 1)), {own_name(), 1});
}

/// A spare host comes in the place of the lost one, or nothing.
Result<std::vector<HostSlots>> hosts_without(Settings& settings, std::string_view lost) {
  std::vector<HostSlots> hosts = settings.hosts;
  const auto place = named(hosts, lost);
  if (place == hosts.end()) return hosts;
  if (!settings.spare_hosts.empty()) {
    *place = std::move(settings.spare_hosts.front());
    settings.spare_hosts.erase(settings.spare_hosts.begin());
    return hosts;
  }
  hosts.erase(place);
  if (hosts.empty()) return nobody_left(lost);
  return hosts;
}

/// The latest that is complete. The last that was begun may be: it has come to its end unheard, or never.
Result<void> go_on_from(JobSpec& job, const Resumption& from) {
  const std::optional<CheckpointNews>& begun = from.checkpoint;
  if (!begun || (!from.written && job.revived() && begun->directory.empty())) return {};  // as the last time
  if (begun->directory.empty()) {
    job.from_memory = true;
    job.restart.clear();
    return {};
  }
  const Result<std::string> folder = find_checkpoint(begun->directory);
  const Result<JobSpec> saved = folder ? read_saved_job(*folder) : folder.failure();
  const bool ours = saved && saved->checkpoint >= from.first && saved->checkpoint <= begun->number;
  if (!ours && job.revived()) return {};
  if (!saved) return saved.failure();
  if (!ours)
    return Failure{begun->directory +
                   ": the ranks cannot go on, since the checkpoint there is another job's"};
  job.from_memory = false;
  job.restart = *folder;
  job.checkpoint = saved->checkpoint;
  return {};
}

}  // namespace

Result<std::vector<HostSlots>> hosts_with(const Settings& settings, std::string_view more) {
  Result<std::vector<HostSlots>> added = parse_host_list(more);
  if (!added) return added;
  std::vector<HostSlots> hosts = hosts_of(settings);
  for (HostSlots& host : *added) {
    if (named(hosts, host.host) != hosts.end())
      return Failure{fmt::format("the job runs on host {} already", host.host)};
    hosts.push_back(std::move(host));
  }
  return hosts;
}

Result<std::vector<HostSlots>> hosts_but(const Settings& settings, const JobPlan& plan,
                                         std::string_view less) {
  const Result<std::vector<HostSlots>> removed = parse_host_list(less);
  if (!removed) return removed;
  std::vector<HostSlots> hosts = hosts_of(settings);
  for (const HostSlots& host : *removed) {
    if (std::erase_if(hosts, [&](const HostSlots& one) { return one.host == host.host; }) == 0)
      return Failure{fmt::format("the job does not run on host {}", host.host)};
  }
  if (hosts.empty()) return nobody_left(less);
  // What the memory of a host holds goes with it.
  const auto goes = std::ranges::count_if(plan.nodes, [&](const NodePlan& node) {
    return std::ranges::find(*removed, node.host, &HostSlots::host) != removed->end();
  });
  const int copies = std::min(settings.job.survive, plan.size() - 1);
  if (settings.job.checkpoint_to.empty() && goes > copies)
    return Failure{fmt::format(
        "the job keeps copies of its ranks on {} other host{}: only so many of those that have ranks can "
        "be removed at once (--survive N)",
        copies, copies == 1 ? "" : "s")};
  return hosts;
}

Result<void> resume(Settings& settings, const Resumption& from) {
  JobSpec& job = settings.job;
  std::vector<HostSlots> hosts = from.hosts;
  if (!from.lost_host.empty()) {
    Result<std::vector<HostSlots>> left = hosts_without(settings, from.lost_host);
    if (!left) return left.failure();
    hosts = *std::move(left);
  }
  if (const Result<void> found = go_on_from(job, from); !found) return found;
  if (hosts.empty()) return {};
  settings.hosts = std::move(hosts);
  settings.nodes = 0;
  settings.placed_on.clear();  // --rankfile: by the hosts that were
  job.cores.clear();
  return {};
}

}  // namespace tmpi::launch
