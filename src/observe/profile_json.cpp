// The profile for machines: everything, per rank. The format is described in docs/profiling.md.
#include <nlohmann/json.hpp>

#include "observe/functions.hpp"
#include "observe/profile.hpp"

namespace tmpi::observe {
namespace {

using nlohmann::json;

json times_of(const CallTimes& times) {
  json out = {{"calls", times.calls},       {"bytes", times.bytes},     {"wall", times.wall},
              {"running", times.running()}, {"waiting", times.waiting}, {"idle", times.idle},
              {"longest", times.longest}};
  if (times.unfinished) out["unfinished"] = true;
  return out;
}

json call_of(const ProfiledCall& call, const CallSites& sites) {
  const CallSite& site = sites[call.site];
  json out = {{"function", function_name(call.function)},
              {"object", site.object},
              {"offset", site.offset},
              {"caller", site.caller},
              {"file", site.file},
              {"line", site.line},
              {"total", times_of(call.total)}};
  for (const ProfiledCall::OfRank& rank : call.ranks) {
    json times = times_of(rank.times);
    times["rank"] = rank.rank;
    out["ranks"].push_back(std::move(times));
  }
  return out;
}

json rank_of(const ProfiledRank& rank) {
  return {{"rank", rank.rank},           {"worker", rank.worker}, {"wall", rank.wall},
          {"computing", rank.computing}, {"mpi", rank.mpi},       {"waiting", rank.waiting},
          {"elsewhere", rank.elsewhere}};
}

json worker_of(const ProfiledWorker& worker, const std::string& name) {
  return {{"name", name},         {"busy", worker.busy},
          {"idle", worker.idle},  {"computing", worker.computing},
          {"mpi", worker.mpi},    {"switches", worker.switches},
          {"ranks", worker.ranks}};
}

json network_of(const ProfiledNetwork& network) {
  const mpi::remote::ProtocolCounters& by = network.protocols;
  return {{"device", network.device},
          {"eager", {{"messages", by.eager}, {"bytes", by.eager_bytes}}},
          {"rendezvous", {{"messages", by.rendezvous}, {"bytes", by.rendezvous_bytes}}},
          {"early", {{"messages", by.early}, {"bytes", by.early_bytes}}},
          {"reads", {{"messages", by.reads}, {"bytes", by.read_bytes}}},
          {"deferred", by.deferred}};
}

}  // namespace

std::string profile_json(const Profile& profile, const CallSites& sites) {
  json out = {{"format", 1},
              {"program", profile.job.program},
              {"host", profile.job.host},
              {"seconds", profile.seconds},
              {"ended_early", profile.job.ended_early},
              {"oversubscribed", profile.job.oversubscribed},
              {"foreign_calls", profile.foreign_calls},
              {"ranks", json::array()},
              {"workers", json::array()},
              {"calls", json::array()}};
  if (profile.network.used) out["network"] = network_of(profile.network);
  for (const ProfiledRank& rank : profile.ranks) out["ranks"].push_back(rank_of(rank));
  for (std::size_t i = 0; i < profile.workers.size(); ++i) {
    const std::string name = i < profile.job.workers.size() ? profile.job.workers[i] : std::string();
    out["workers"].push_back(worker_of(profile.workers[i], name));
  }
  for (const ProfiledCall& call : profile.calls) out["calls"].push_back(call_of(call, sites));
  // A path need not be UTF-8.
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tmpi::observe
