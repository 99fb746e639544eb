#include "launch/launcher/resumption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "launch/plan/job_plan.hpp"
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

/// Of a directory the one that is in force now: the last that was begun may have come to its end unheard.
Result<void> go_on_from(JobSpec& job, const Resumption& from) {
  const std::optional<CheckpointNews>& begun = from.checkpoint;
  const bool began_anew = !job.revived();
  if (begun) job.from_memory = begun->directory.empty();
  if (job.from_memory) {
    job.restart.clear();
    return {};
  }
  const std::string directory =
      begun ? begun->directory : std::filesystem::path(job.restart).parent_path().string();
  const Result<std::string> folder = find_checkpoint(directory);
  if (!folder) return folder.failure();
  const Result<JobSpec> saved = read_saved_job(*folder);
  if (!saved) return saved.failure();
  if (began_anew && saved->checkpoint < from.first)
    return Failure{directory + ": the ranks cannot go on, since the checkpoint there is an earlier job's"};
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

Result<std::vector<HostSlots>> hosts_but(const Settings& settings, std::string_view less) {
  const Result<std::vector<HostSlots>> removed = parse_host_list(less);
  if (!removed) return removed;
  std::vector<HostSlots> hosts = hosts_of(settings);
  for (const HostSlots& host : *removed) {
    if (std::erase_if(hosts, [&](const HostSlots& one) { return one.host == host.host; }) == 0)
      return Failure{fmt::format("the job does not run on host {}", host.host)};
  }
  if (hosts.empty()) return nobody_left(less);
  // What the memory of a host holds goes with it.
  const JobSpec& job = settings.job;
  if (job.checkpoint_to.empty() && static_cast<int>(removed->size()) > job.survive)
    return Failure{fmt::format(
        "the job keeps copies of its ranks on {} other host{} (--survive {}): so many can be removed at once",
        job.survive, job.survive == 1 ? "" : "s", job.survive)};
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
