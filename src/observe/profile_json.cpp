// The profile for machines: everything, per rank. The format is described in docs/reference/profiling.md. The same
// document carries a node process's profile to tmpirun.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "observe/profile.hpp"

namespace tmpi::observe {
namespace {

using nlohmann::json;

json times_of(const CallTimes& times) {
  json out = {{"calls", times.calls},       {"bytes", times.bytes},       {"wall", times.wall},
              {"running", times.running()}, {"waiting", times.waiting},   {"idle", times.idle},
              {"longest", times.longest},   {"shortest", times.shortest}, {"least", times.least}};
  if (times.unfinished) out["unfinished"] = true;
  return out;
}

CallTimes times_in(const json& in) {
  CallTimes times;
  times.calls = in.at("calls");
  times.bytes = in.at("bytes");
  times.wall = in.at("wall");
  times.waiting = in.at("waiting");
  times.idle = in.at("idle");
  times.longest = in.at("longest");
  times.shortest = in.at("shortest");
  times.least = in.at("least");
  times.unfinished = in.value("unfinished", false);
  return times;
}

json call_of(const ProfiledCall& call) {
  const CallSite& site = call.site;
  json out = {{"function", call.function},    {"object", site.object}, {"offset", site.offset},
              {"caller", site.caller},        {"file", site.file},     {"line", site.line},
              {"total", times_of(call.total)}};
  for (const ProfiledCall::OfRank& rank : call.ranks) {
    json times = times_of(rank.times);
    times["rank"] = rank.rank;
    out["ranks"].push_back(std::move(times));
  }
  return out;
}

ProfiledCall call_in(const json& in) {
  ProfiledCall call;
  call.function = in.at("function");
  call.site.object = in.at("object");
  call.site.offset = in.at("offset");
  call.site.caller = in.at("caller");
  call.site.file = in.at("file");
  call.site.line = in.at("line");
  call.total = times_in(in.at("total"));
  for (const json& rank : in.at("ranks")) call.ranks.push_back({rank.at("rank"), times_in(rank)});
  return call;
}

json variables_of(const ProfiledVariables& variables) {
  json out = json::object();
  for (const auto& [name, value] : variables)
    std::visit([&, &key = name](auto number) { out[key] = number; }, value);
  return out;
}

ProfiledVariables variables_in(const json& in) {
  ProfiledVariables variables;
  for (const auto& [name, value] : in.items()) {
    if (value.is_number_float())
      variables[name] = value.get<double>();
    else
      variables[name] = value.get<std::uint64_t>();
  }
  return variables;
}

json messages_of(const ProfiledMessages& messages) {
  return {{"messages", messages.messages}, {"bytes", messages.bytes}};
}

ProfiledMessages messages_in(const json& in) {
  return {in.at("messages"), in.at("bytes")};
}

json traffic_of(const ProfiledTraffic& traffic) {
  json out = messages_of(traffic.sent);
  out["peers"] = traffic.peers;
  if (traffic.other_messages > 0)
    out["others"] = {{"messages", traffic.other_messages}, {"bytes", traffic.other_bytes}};
  return out;
}

ProfiledTraffic traffic_in(const json& in) {
  ProfiledTraffic traffic{in.at("peers"), messages_in(in)};
  if (const auto others = in.find("others"); others != in.end()) {
    traffic.other_messages = others->at("messages");
    traffic.other_bytes = others->at("bytes");
  }
  return traffic;
}

json process_of(const ProfiledProcess& process) {
  json sizes = json::object();
  for (const auto& [way, messages] : process.sizes) sizes[way] = messages_of(messages);
  json algorithms = json::array();
  for (const ProfiledAlgorithm& one : process.algorithms)
    algorithms.push_back({{"collective", one.collective},
                          {"algorithm", one.algorithm},
                          {"calls", one.calls},
                          {"bytes", one.bytes},
                          {"wall", one.wall}});
  return {{"node", process.node},
          {"variables", variables_of(process.variables)},
          {"sizes", sizes},
          {"algorithms", algorithms}};
}

ProfiledProcess process_in(const json& in) {
  ProfiledProcess process{in.at("node"), variables_in(in.at("variables")), {}, {}};
  if (const auto algorithms = in.find("algorithms"); algorithms != in.end()) {  // not in older ones
    for (const json& one : *algorithms)
      process.algorithms.push_back(
          {one.at("collective"), one.at("algorithm"), one.at("calls"), one.at("bytes"), one.at("wall")});
  }
  if (!in.contains("sizes")) return process;  // likewise
  for (const auto& [way, messages] : in.at("sizes").items()) process.sizes[way] = messages_in(messages);
  return process;
}

json rank_of(const ProfiledRank& rank) {
  return {{"rank", rank.rank},
          {"worker", rank.worker},
          {"wall", rank.wall},
          {"computing", rank.computing},
          {"mpi", rank.mpi},
          {"waiting", rank.waiting},
          {"elsewhere", rank.elsewhere},
          {"between", rank.between},
          {"variables", variables_of(rank.variables)},
          {"sent_to", traffic_of(rank.traffic)}};
}

ProfiledRank rank_in(const json& in) {
  return {in.at("rank"),
          in.at("worker"),
          in.at("wall"),
          in.at("computing"),
          in.at("mpi"),
          in.at("waiting"),
          in.at("elsewhere"),
          in.at("between"),
          variables_in(in.at("variables")),
          in.contains("sent_to") ? traffic_in(in.at("sent_to")) : ProfiledTraffic{}};
}

json worker_of(const ProfiledWorker& worker) {
  return {{"name", worker.name},
          {"busy", worker.busy},
          {"idle", worker.idle},
          {"computing", worker.computing},
          {"mpi", worker.mpi},
          {"held", worker.held},
          {"switches", worker.switches},
          {"ranks", worker.ranks},
          {"variables", variables_of(worker.variables)},
          {"over_time",
           {{"width", worker.over_time.width},
            {"computing", worker.over_time.computing},
            {"mpi", worker.over_time.mpi}}}};
}

ProfiledWorker worker_in(const json& in) {
  ProfiledBins bins;
  if (const auto over = in.find("over_time"); over != in.end())  // not in older ones
    bins = {over->at("width"), over->at("computing"), over->at("mpi")};
  return {in.at("name"),
          in.at("busy"),
          in.at("idle"),
          in.at("computing"),
          in.at("mpi"),
          in.at("held"),
          in.at("switches"),
          in.at("ranks"),
          variables_in(in.at("variables")),
          bins};
}

json network_of(const ProfiledNetwork& network) {
  const mpi::remote::ProtocolCounters& by = network.protocols;
  return {{"device", network.device},
          {"wake_up", network.wake_up},
          {"eager", {{"messages", by.eager}, {"bytes", by.eager_bytes}}},
          {"rendezvous", {{"messages", by.rendezvous}, {"bytes", by.rendezvous_bytes}}},
          {"early", {{"messages", by.early}, {"bytes", by.early_bytes}}},
          {"reads", {{"messages", by.reads}, {"bytes", by.read_bytes}}},
          {"one_sided", {{"messages", by.one_sided}, {"bytes", by.one_sided_bytes}}},
          {"deferred", by.deferred},
          {"eager_limits",
           {{"raised", by.limits_raised},
            {"lowered", by.limits_lowered},
            {"refused", by.limits_refused},
            {"largest", by.largest_limit}}},
          {"moving", by.moving},
          {"rate", by.rate},
          {"can_read", by.can_read},
          {"step", by.step},
          {"piece", by.piece},
          {"waits", by.waits},
          {"waited", by.waited},
          {"receive_buffers", by.receive_buffers}};
}

ProfiledNetwork network_in(const json& in) {
  ProfiledNetwork network;
  mpi::remote::ProtocolCounters& by = network.protocols;
  const auto read = [&](const char* protocol, std::uint64_t& messages, std::uint64_t& bytes) {
    messages = in.at(protocol).at("messages");
    bytes = in.at(protocol).at("bytes");
  };
  network.device = in.at("device");
  read("eager", by.eager, by.eager_bytes);
  read("rendezvous", by.rendezvous, by.rendezvous_bytes);
  read("early", by.early, by.early_bytes);
  read("reads", by.reads, by.read_bytes);
  if (in.contains("one_sided")) read("one_sided", by.one_sided, by.one_sided_bytes);  // not in older ones
  by.deferred = in.at("deferred");
  network.wake_up = in.value("wake_up", 0.0);
  // Not in older ones.
  by.moving = in.value("moving", std::uint64_t{0});
  by.rate = in.value("rate", std::uint64_t{0});
  by.can_read = in.value("can_read", false);
  by.step = in.value("step", std::uint64_t{0});
  by.piece = in.value("piece", std::uint64_t{0});
  by.waits = in.value("waits", std::uint64_t{0});
  by.waited = in.value("waited", std::uint64_t{0});
  if (!in.contains("eager_limits")) return network;  // written before there were any
  const json& limits = in.at("eager_limits");
  by.limits_raised = limits.at("raised");
  by.limits_lowered = limits.at("lowered");
  by.limits_refused = limits.at("refused");
  by.largest_limit = limits.at("largest");
  by.receive_buffers = in.at("receive_buffers");
  return network;
}

json document_of(const Profile& profile) {
  json out = {{"format", 1},
              {"node", profile.node},
              {"program", profile.program},
              {"host", profile.hosts.front()},
              {"hosts", profile.hosts},
              {"seconds", profile.seconds},
              {"ended_early", profile.ended_early},
              {"cores_per_worker", profile.cores_per_worker},
              {"oversubscribed", profile.oversubscribed},
              {"line_numbers", profile.line_numbers},
              {"foreign_calls", profile.foreign_calls},
              {"ranks", json::array()},
              {"workers", json::array()},
              {"processes", json::array()},
              {"calls", json::array()}};
  if (profile.network.used()) out["network"] = network_of(profile.network);
  for (const ProfiledRank& rank : profile.ranks) out["ranks"].push_back(rank_of(rank));
  for (const ProfiledWorker& worker : profile.workers) out["workers"].push_back(worker_of(worker));
  for (const ProfiledProcess& process : profile.processes) out["processes"].push_back(process_of(process));
  for (const ProfiledCall& call : profile.calls) out["calls"].push_back(call_of(call));
  return out;
}

Profile profile_in(const json& in) {
  Profile profile;
  profile.node = in.at("node");
  profile.program = in.at("program");
  profile.hosts = in.at("hosts");
  profile.seconds = in.at("seconds");
  profile.ended_early = in.at("ended_early");
  profile.cores_per_worker = in.value("cores_per_worker", 1);
  profile.oversubscribed = in.at("oversubscribed");
  profile.line_numbers = in.at("line_numbers");
  profile.foreign_calls = in.at("foreign_calls");
  if (const auto network = in.find("network"); network != in.end()) profile.network = network_in(*network);
  for (const json& rank : in.at("ranks")) profile.ranks.push_back(rank_in(rank));
  for (const json& worker : in.at("workers")) profile.workers.push_back(worker_in(worker));
  for (const json& process : in.at("processes")) profile.processes.push_back(process_in(process));
  for (const json& call : in.at("calls")) profile.calls.push_back(call_in(call));
  return profile;
}

// Whoever reads a profile takes ranks and workers for indices, and calculates with times.
constexpr int kMostRanks = 1 << 24;
constexpr int kMostCores = 1 << 16;
constexpr double kLongest = 1e12;       // seconds
constexpr std::size_t kMostSizes = 64;  // classes

bool sensible(double seconds) noexcept {
  return std::abs(seconds) <= kLongest;  // false of what is no number
}

bool sensible(const CallTimes& times) noexcept {
  return std::ranges::all_of(
      std::array{times.wall, times.waiting, times.idle, times.longest, times.shortest, times.least},
      [](double time) { return sensible(time); });
}

bool is_rank(int rank) noexcept {
  return rank >= 0 && rank < kMostRanks;
}

bool sensible(const ProfiledMessages& messages, std::size_t number) noexcept {
  return messages.messages.size() == number && messages.bytes.size() == number;
}

bool sensible(const ProfiledBins& bins) noexcept {
  const auto times = [](const std::vector<double>& all) {
    return std::ranges::all_of(all, [](double time) { return sensible(time); });
  };
  return sensible(bins.width) && bins.width >= 0 && bins.computing.size() == bins.mpi.size() &&
         times(bins.computing) && times(bins.mpi);
}

bool sensible(const ProfiledProcess& process) noexcept {
  if (!std::ranges::all_of(process.algorithms,
                           [](const ProfiledAlgorithm& one) { return sensible(one.wall); }))
    return false;
  return std::ranges::all_of(process.sizes, [](const auto& way) {
    return way.second.messages.size() <= kMostSizes && sensible(way.second, way.second.messages.size());
  });
}

bool sensible(const ProfiledRank& rank, std::size_t workers) noexcept {
  return is_rank(rank.rank) && rank.worker >= 0 && static_cast<std::size_t>(rank.worker) < workers &&
         std::ranges::all_of(rank.traffic.peers, is_rank) &&
         sensible(rank.traffic.sent, rank.traffic.peers.size()) &&
         std::ranges::all_of(
             std::array{rank.wall, rank.computing, rank.mpi, rank.waiting, rank.elsewhere, rank.between},
             [](double time) { return sensible(time); });
}

bool sensible(const ProfiledWorker& worker) noexcept {
  return std::ranges::all_of(worker.ranks, is_rank) && sensible(worker.busy) && sensible(worker.idle) &&
         sensible(worker.computing) && sensible(worker.mpi) && sensible(worker.held) &&
         sensible(worker.over_time);
}

bool sensible(const ProfiledCall& call) noexcept {
  return sensible(call.total) && std::ranges::all_of(call.ranks, [](const ProfiledCall::OfRank& of) {
           return is_rank(of.rank) && sensible(of.times);
         });
}

// What it says that no job can have; null: nothing.
const char* nonsense_in(const Profile& profile) noexcept {
  if (profile.hosts.empty()) return "it names no host";
  if (profile.node < 0) return "the number of a node process is negative";
  if (profile.cores_per_worker < 1 || profile.cores_per_worker > kMostCores)
    return "a worker has a number of cores that none can have";
  if (!sensible(profile.seconds) || profile.seconds < 0) return "its job took no time that there is";
  if (!sensible(profile.network.wake_up)) return "its wake-ups take no time that there is";
  if (!std::ranges::all_of(profile.ranks,
                           [&](const ProfiledRank& rank) { return sensible(rank, profile.workers.size()); }))
    return "a rank has a number, a worker or a time that none can have";
  if (!std::ranges::all_of(profile.workers, [](const ProfiledWorker& worker) { return sensible(worker); }))
    return "a worker has a rank or a time that none can have";
  if (!std::ranges::all_of(profile.processes,
                           [](const ProfiledProcess& process) { return sensible(process); }))
    return "a process has sizes of messages or times of algorithms that none can have";
  if (!std::ranges::all_of(profile.calls, [](const ProfiledCall& call) { return sensible(call); }))
    return "a call has a rank or a time that none can have";
  return nullptr;
}

Result<Profile> checked(Profile profile) {
  if (const char* const nonsense = nonsense_in(profile))
    return Failure{fmt::format("it was not written by tmpi, or has been damaged: {}", nonsense)};
  return profile;
}

}  // namespace

std::string profile_json(const Profile& profile) {
  // A path need not be UTF-8.
  return document_of(profile).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Profile> parse_profile(std::string_view text) {
  try {
    return checked(profile_in(json::parse(text)));
  } catch (const json::exception& error) {
    return Failure{fmt::format(
        "it is no profile of this version of tmpi: {}. Make one with `tmpirun --profile=FILE ...`",
        error.what())};
  }
}

std::string pack_profile(const Profile& profile) {
  std::string bytes;
  json::to_cbor(document_of(profile), bytes);
  return bytes;
}

Result<Profile> unpack_profile(std::string_view bytes) {
  try {
    return checked(profile_in(json::from_cbor(bytes)));
  } catch (const json::exception& error) {
    return Failure{fmt::format("it is no profile: {}", error.what())};
  }
}

}  // namespace tmpi::observe
