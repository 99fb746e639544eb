#include "report/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "advise/findings.hpp"
#include "report/matrix.hpp"
#include "report/over_time.hpp"

namespace tmpi::report {
namespace {

using nlohmann::json;
using observe::Profile;
using observe::ProfiledCall;
using observe::ProfiledRank;
using observe::ProfiledWorker;

// Five digits: the shortest decimal number is written then.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int digits = 4 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double scale = std::pow(10.0, std::abs(digits));
  return digits > 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

// One number if all are the same, which is common: calls and bytes of a rank.
template <class Items, class Value>
json column(const Items& items, Value value) {
  json all = json::array();
  bool same = true;
  for (const auto& item : items) {
    const auto each = value(item);
    if constexpr (std::is_floating_point_v<decltype(each)>) {
      all.push_back(rounded(each));
    } else {
      all.push_back(each);
    }
    same = same && all.back() == all.front();
  }
  return same && all.size() > 1 ? all.front() : all;
}

json number_of(const observe::ProfiledVariables& variables, const std::string& name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return 0;
  return std::visit([](auto number) { return json(number); }, found->second);
}

// By name, each a column.
template <class Items>
json variables_of(const Items& items) {
  json out = json::object();
  if (items.empty()) return out;
  for (const auto& [name, value] : items.front().variables)
    out[name] = column(items, [&, &key = name](const auto& item) { return number_of(item.variables, key); });
  return out;
}

json ranks_of(const std::vector<ProfiledRank>& ranks) {
  return {{"count", ranks.size()},
          {"rank", column(ranks, [](const ProfiledRank& r) { return r.rank; })},
          {"worker", column(ranks, [](const ProfiledRank& r) { return r.worker; })},
          {"wall", column(ranks, [](const ProfiledRank& r) { return r.wall; })},
          {"computing", column(ranks, [](const ProfiledRank& r) { return r.computing; })},
          {"mpi", column(ranks, [](const ProfiledRank& r) { return r.mpi; })},
          {"waiting", column(ranks, [](const ProfiledRank& r) { return r.waiting; })},
          {"elsewhere", column(ranks, [](const ProfiledRank& r) { return r.elsewhere; })},
          {"variables", variables_of(ranks)}};
}

json workers_of(const std::vector<ProfiledWorker>& workers) {
  return {{"count", workers.size()},
          {"name", column(workers, [](const ProfiledWorker& w) { return w.name; })},
          {"busy", column(workers, [](const ProfiledWorker& w) { return w.busy; })},
          {"idle", column(workers, [](const ProfiledWorker& w) { return w.idle; })},
          {"computing", column(workers, [](const ProfiledWorker& w) { return w.computing; })},
          {"mpi", column(workers, [](const ProfiledWorker& w) { return w.mpi; })},
          {"held", column(workers, [](const ProfiledWorker& w) { return w.held; })},
          {"switches", column(workers, [](const ProfiledWorker& w) { return w.switches; })},
          {"variables", variables_of(workers)}};
}

json call_of(const ProfiledCall& call) {
  using OfRank = ProfiledCall::OfRank;
  const observe::CallTimes& total = call.total;
  return {{"function", call.function},
          {"where", call.site.label()},
          {"caller", call.site.caller},
          {"file", call.site.file},
          {"line", call.site.line},
          {"calls", total.calls},
          {"bytes", total.bytes},
          {"wall", total.wall},
          {"running", total.running()},
          {"waiting", total.waiting},
          {"idle", total.idle},
          {"longest", total.longest},
          {"unfinished", total.unfinished},
          {"ranks",
           {{"count", call.ranks.size()},
            {"rank", column(call.ranks, [](const OfRank& r) { return r.rank; })},
            {"calls", column(call.ranks, [](const OfRank& r) { return r.times.calls; })},
            {"bytes", column(call.ranks, [](const OfRank& r) { return r.times.bytes; })},
            {"wall", column(call.ranks, [](const OfRank& r) { return r.times.wall; })},
            {"waiting", column(call.ranks, [](const OfRank& r) { return r.times.waiting; })}}}};
}

json network_of(const observe::ProfiledNetwork& network) {
  const mpi::remote::ProtocolCounters& by = network.protocols;
  const auto protocol = [](const char* name, std::uint64_t messages, std::uint64_t bytes) {
    return json{{"name", name}, {"messages", messages}, {"bytes", bytes}};
  };
  return {{"device", network.device},
          {"protocols",
           {protocol("eager", by.eager, by.eager_bytes),
            protocol("rendezvous", by.rendezvous, by.rendezvous_bytes),
            protocol("large, to a receive announced before", by.early, by.early_bytes),
            protocol("one-sided", by.one_sided, by.one_sided_bytes),
            protocol("read here from other nodes' memory", by.reads, by.read_bytes)}},
          {"deferred", by.deferred}};
}

json matrix_of(const Matrix& matrix) {
  return {{"items", matrix.items},
          {"block", matrix.block},
          {"from", matrix.from},
          {"to", matrix.to},
          {"messages", matrix.sent.messages},
          {"bytes", matrix.sent.bytes}};
}

json traffic_of(const Profile& profile) {
  json out = {{"ranks", matrix_of(matrix_of_ranks(profile))}};
  if (profile.hosts.size() > 1) out["nodes"] = matrix_of(matrix_of_nodes(profile));
  std::uint64_t messages = 0, bytes = 0;
  for (const ProfiledRank& rank : profile.ranks) {
    messages += rank.traffic.other_messages;
    bytes += rank.traffic.other_bytes;
  }
  out["others"] = {{"messages", messages}, {"bytes", bytes}};
  return out;
}

json sizes_of(const Profile& profile) {
  std::map<std::string, observe::ProfiledMessages> all;
  const auto add = [](std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
    sum.resize(std::max(sum.size(), more.size()));
    for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
  };
  for (const observe::ProfiledProcess& process : profile.processes) {
    for (const auto& [way, messages] : process.sizes) {
      add(all[way].messages, messages.messages);
      add(all[way].bytes, messages.bytes);
    }
  }
  json out = json::object();
  for (const auto& [way, messages] : all)
    out[way] = {{"messages", messages.messages}, {"bytes", messages.bytes}};
  return out;
}

json algorithms_of(const Profile& profile) {
  std::map<std::pair<std::string, std::string>, observe::ProfiledAlgorithm> all;
  for (const observe::ProfiledProcess& process : profile.processes) {
    for (const observe::ProfiledAlgorithm& one : process.algorithms) {
      observe::ProfiledAlgorithm& sum = all[{one.collective, one.algorithm}];
      sum.calls += one.calls;
      sum.bytes += one.bytes;
      sum.wall += one.wall;
    }
  }
  json out = json::array();
  for (const auto& [names, sum] : all)
    out.push_back({{"collective", names.first},
                   {"algorithm", names.second},
                   {"calls", sum.calls},
                   {"bytes", sum.bytes},
                   {"wall", sum.wall}});
  return out;
}

json over_time_of(const Profile& profile) {
  const observe::ProfiledBins bins = cores_over_time(profile);
  if (bins.width <= 0) return nullptr;
  json computing = json::array(), mpi = json::array();
  for (const double each : bins.computing) computing.push_back(rounded(each));
  for (const double each : bins.mpi) mpi.push_back(rounded(each));
  return {{"width", bins.width}, {"cores", profile.workers.size()}, {"computing", computing}, {"mpi", mpi}};
}

json findings_of(const Profile& profile) {
  const advise::Findings found = advise::findings_of(profile);
  json all = json::array();
  for (const advise::Finding& finding : found.all)
    all.push_back({{"title", finding.title},
                   {"sentence", finding.sentence},
                   {"remedy", finding.remedy},
                   {"share", finding.share}});
  return {{"all", all}, {"doubts", found.doubts}};
}

json document_of(const Shown& shown) {
  const Profile& profile = *shown.profile;
  json out = {{"name", shown.name},
              {"program", profile.program},
              {"hosts", profile.hosts},
              {"seconds", profile.seconds},
              {"ended_early", profile.ended_early},
              {"findings", findings_of(profile)},
              {"ranks", ranks_of(profile.ranks)},
              {"workers", workers_of(profile.workers)},
              {"calls", json::array()}};
  for (const ProfiledCall& call : profile.calls) out["calls"].push_back(call_of(call));
  // Older profiles do not have them, which is not the same as nothing.
  if (json over_time = over_time_of(profile); !over_time.is_null()) {
    out["over_time"] = std::move(over_time);
    out["matrix"] = traffic_of(profile);
    out["sizes"] = sizes_of(profile);
    out["algorithms"] = algorithms_of(profile);
  }
  if (profile.network.used()) out["network"] = network_of(profile.network);
  return out;
}

}  // namespace

std::string page_data(std::span<const Shown> profiles) {
  json all = json::array();
  for (const Shown& each : profiles) all.push_back(document_of(each));
  // A path need not be UTF-8.
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tmpi::report
