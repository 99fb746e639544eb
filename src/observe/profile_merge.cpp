// The profiles of a job's node processes as one.
#include <fmt/core.h>
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "observe/profile.hpp"

namespace tmpi::observe {
namespace {

// Hosts may have the program in different directories.
using SiteKey = std::tuple<std::string, std::string, SiteIdentity>;

SiteKey key_of(const ProfiledCall& call) {
  const CallSite& site = call.site;
  return {call.function, site.object.substr(site.object.rfind('/') + 1), identity(site)};
}

void add_workers(Profile& whole, Profile& part) {
  const int first = static_cast<int>(whole.workers.size());
  for (ProfiledWorker& worker : part.workers) {
    worker.name = fmt::format("node {} {}", part.node, worker.name);
    whole.workers.push_back(std::move(worker));
  }
  for (ProfiledRank& rank : part.ranks) {
    rank.worker += first;
    whole.ranks.push_back(rank);
  }
}

void add_network(ProfiledNetwork& whole, const ProfiledNetwork& part) {
  if (!whole.used()) whole.device = part.device;
  whole.wake_up = std::max(whole.wake_up, part.wake_up);
  mpi::remote::ProtocolCounters& sum = whole.protocols;
  const mpi::remote::ProtocolCounters& by = part.protocols;
  sum.eager += by.eager;
  sum.eager_bytes += by.eager_bytes;
  sum.rendezvous += by.rendezvous;
  sum.rendezvous_bytes += by.rendezvous_bytes;
  sum.early += by.early;
  sum.early_bytes += by.early_bytes;
  sum.reads += by.reads;
  sum.read_bytes += by.read_bytes;
  sum.one_sided += by.one_sided;
  sum.one_sided_bytes += by.one_sided_bytes;
  sum.deferred += by.deferred;
  sum.limits_raised += by.limits_raised;
  sum.limits_lowered += by.limits_lowered;
  sum.limits_refused += by.limits_refused;
  sum.largest_limit = std::max(sum.largest_limit, by.largest_limit);
  sum.moving += by.moving;
  sum.receive_buffers = std::max(sum.receive_buffers, by.receive_buffers);
  sum.rate = std::max(sum.rate, by.rate);
  sum.can_read = sum.can_read || by.can_read;
  if (by.step > 0) sum.step = sum.step > 0 ? std::min(sum.step, by.step) : by.step;
  sum.piece = std::max(sum.piece, by.piece);
  sum.waits += by.waits;
  sum.waited += by.waited;
}

std::vector<ProfiledCall> merge_calls(std::vector<Profile>& parts) {
  std::map<SiteKey, ProfiledCall> calls;
  for (Profile& part : parts) {
    for (ProfiledCall& call : part.calls) {
      const auto [entry, fresh] = calls.try_emplace(key_of(call));
      ProfiledCall& whole = entry->second;
      if (fresh) {
        whole = std::move(call);
        continue;
      }
      whole.total.add(call.total);
      whole.ranks.insert(whole.ranks.end(), call.ranks.begin(), call.ranks.end());
    }
  }
  std::vector<ProfiledCall> merged;
  for (auto& [key, call] : calls) {
    std::ranges::sort(call.ranks, {}, &ProfiledCall::OfRank::rank);
    merged.push_back(std::move(call));
  }
  return merged;
}

}  // namespace

void CallTimes::add(const CallTimes& times) {
  calls += times.calls;
  bytes += times.bytes;
  wall += times.wall;
  waiting += times.waiting;
  idle += times.idle;
  longest = std::max(longest, times.longest);
  const auto lower = [](double& mine, double other) {
    if (other > 0) mine = mine > 0 ? std::min(mine, other) : other;
  };
  lower(shortest, times.shortest);
  lower(least, times.least);
  unfinished |= times.unfinished;
}

void sort_calls(Profile& profile) {
  std::ranges::stable_sort(profile.calls, [](const ProfiledCall& a, const ProfiledCall& b) {
    return a.total.wall > b.total.wall;
  });
}

Profile merge_profiles(std::vector<Profile> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Profile whole;
  whole.node = parts.front().node;
  whole.program = parts.front().program;
  for (Profile& part : parts) {
    whole.hosts.insert(whole.hosts.end(), part.hosts.begin(), part.hosts.end());
    whole.cores_per_worker = std::max(whole.cores_per_worker, part.cores_per_worker);
    whole.oversubscribed |= part.oversubscribed;
    whole.ended_early |= part.ended_early;
    whole.line_numbers &= part.line_numbers;
    whole.seconds = std::max(whole.seconds, part.seconds);
    whole.foreign_calls += part.foreign_calls;
    add_workers(whole, part);
    whole.processes.insert(whole.processes.end(), part.processes.begin(), part.processes.end());
    add_network(whole.network, part.network);
  }
  std::ranges::sort(whole.ranks, {}, &ProfiledRank::rank);
  whole.calls = merge_calls(parts);
  sort_calls(whole);
  return whole;
}

}  // namespace tmpi::observe
