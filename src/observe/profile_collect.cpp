#include "observe/profile_collect.hpp"

#include <algorithm>
#include <map>

#include "base/bias.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/remote/remote.hpp"
#include "mpi/tool/activity.hpp"
#include "mpi/tool/variables.hpp"
#include "observe/functions.hpp"
#include "sched/machine/wake_up_cost.hpp"
#include "sched/scheduler.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {
namespace {

// A rank as it stands when the recording stops: where a call or a suspension is still open, as if it ended
// then.
struct RankState {
  const RankRecord& record;
  std::uint64_t end = 0;
  std::uint64_t waited = 0;

  RankState(const RankRecord& rank, std::uint64_t last_tick) : record(rank), waited(rank.waited()) {
    end = last_tick;
    const std::uint64_t left = mpi::value_of(rank.figures->left);
    if (started() == 0 || left == 0) return;
    if (rank.open > 0) {
      waited += last_tick - std::min(left, last_tick);  // suspended in a call that never returned
    } else {
      end = left;  // it had finished
    }
  }
  std::uint64_t started() const { return mpi::value_of(record.figures->started); }
  std::uint64_t call_wall() const { return record.open > 0 ? end - record.call_begin : 0; }
  std::uint64_t call_waited() const { return record.open > 0 ? waited - record.call_waited : 0; }
};

CallTimes times_of(const Site& site) {
  CallTimes times;
  times.calls = site.calls;
  times.bytes = site.bytes;
  times.wall = timers::seconds(site.wall);
  times.waiting = timers::seconds(site.waited);
  times.idle = timers::seconds(site.idled);
  times.longest = timers::seconds(site.longest);
  if (site.calls > 0) {
    times.shortest = timers::seconds(std::max<std::uint64_t>(site.shortest, 1));
    times.least = timers::seconds(std::max<std::uint64_t>(site.least, 1));
  }
  return times;
}

CallTimes open_call(const RankState& state) {
  CallTimes times;
  times.calls = 1;
  times.wall = timers::seconds(state.call_wall());
  times.waiting = timers::seconds(state.call_waited());
  times.idle = timers::seconds(state.record.idled() - state.record.call_idled);
  times.longest = times.wall;
  times.unfinished = true;
  return times;
}

constexpr const char* kWayNames[2][mpi::kDepartures] = {
    {"direct", "eager", "rendezvous"}, {"network_direct", "network_eager", "network_rendezvous"}};

ProfiledTraffic traffic_of(const SentTally& tally) {
  ProfiledTraffic traffic;
  std::vector<SentTally::Peer> peers;
  tally.for_each_peer([&](const SentTally::Peer& peer) { peers.push_back(peer); });
  std::ranges::sort(peers, {}, &SentTally::Peer::rank);
  for (const SentTally::Peer& peer : peers) {
    traffic.peers.push_back(peer.rank);
    traffic.sent.messages.push_back(peer.sum.messages);
    traffic.sent.bytes.push_back(peer.sum.bytes);
  }
  traffic.other_messages = tally.others().messages;
  traffic.other_bytes = tally.others().bytes;
  return traffic;
}

void add_sizes(ProfiledMessages& all, const SizeClasses& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].messages == 0) continue;
    all.messages.resize(std::max(all.messages.size(), i + 1));
    all.bytes.resize(all.messages.size());
    all.messages[i] += sizes[i].messages;
    all.bytes[i] += sizes[i].bytes;
  }
}

void add_algorithm(std::vector<ProfiledAlgorithm>& all, const AlgorithmSum& sum) {
  const std::string collective = mpi::name_of(sum.algorithm->collective), name = sum.algorithm->name;
  auto known = std::ranges::find_if(all, [&](const ProfiledAlgorithm& one) {
    return one.collective == collective && one.algorithm == name;
  });
  if (known == all.end()) known = all.insert(all.end(), {collective, name});
  known->calls += sum.calls;
  known->bytes += sum.bytes;
  known->wall += timers::seconds(sum.wall);
}

ProfiledBins bins_of(const TimeBins& bins, std::uint64_t ticks) {
  ProfiledBins out{.width = timers::seconds(bins.width()), .computing = {}, .mpi = {}};
  const std::size_t used = std::min<std::size_t>(ticks / bins.width() + 1, TimeBins::kBins);
  for (std::size_t i = 0; i < used; ++i) {
    out.computing.push_back(timers::seconds(bins.bins()[i].computing));
    out.mpi.push_back(timers::seconds(bins.bins()[i].mpi));
  }
  return out;
}

class Collector {
 public:
  Collector(const Recording& recording, CallSites& sites) : recording_(recording), sites_(sites) {}

  void add_rank(Profile& profile, std::size_t local) {
    const RankRecord& record = recording_.rank(local);
    const RankState state(record, recording_.last_tick());
    ProfiledRank rank = describe(state, static_cast<int>(local));
    record.sites.for_each(
        [&](const Site& site) { add_call(rank.rank, site.address, site.function, times_of(site)); });
    if (record.open > 0) add_call(rank.rank, record.call_address, record.call_function, open_call(state));
    ProfiledWorker& worker = profile.workers[static_cast<std::size_t>(rank.worker)];
    worker.computing += rank.computing;
    worker.mpi += rank.mpi;
    worker.ranks.push_back(rank.rank);
    profile.ranks.push_back(rank);
    profile.ranks.back().traffic = traffic_of(record.sent);
    record.algorithms.for_each(
        [&](const AlgorithmSum& sum) { add_algorithm(profile.processes.front().algorithms, sum); });
    for (int way = 0; way < mpi::kDepartures; ++way) {
      for (const bool elsewhere : {false, true}) {
        if (const SizeClasses* sizes = record.sent.sizes(static_cast<mpi::Departure>(way), elsewhere))
          add_sizes(profile.processes.front().sizes[kWayNames[elsewhere][way]], *sizes);
      }
    }
  }

  std::vector<ProfiledCall> calls() {
    std::vector<ProfiledCall> calls;
    for (auto& [key, call] : calls_) calls.push_back(std::move(call));
    return calls;
  }

 private:
  ProfiledRank describe(const RankState& state, int local) const {
    const RankRecord& record = state.record;
    const sched::Scheduler& scheduler = *sched::scheduler();
    const sched::Task& task = scheduler.task(local);
    ProfiledRank rank;
    rank.rank = record.world_rank;
    rank.worker = scheduler.worker_of(task);
    if (state.started() == 0) return rank;
    std::uint64_t paused_wall = record.paused_wall;
    std::uint64_t paused_waited = record.paused_waited;
    if (record.paused) {
      paused_wall += state.end - record.pause_begin;
      paused_waited += state.waited - record.pause_waited;
    }
    const std::uint64_t wall = state.end - state.started() - paused_wall;
    const std::uint64_t waited = state.waited - paused_waited;
    const std::uint64_t mpi_waited = record.mpi_waited + state.call_waited();
    const std::uint64_t mpi_running = record.mpi_wall + state.call_wall() - mpi_waited;
    rank.wall = timers::seconds(wall);
    rank.mpi = timers::seconds(mpi_running);
    rank.waiting = timers::seconds(mpi_waited);
    rank.between = timers::seconds(record.between);
    rank.elsewhere = timers::seconds(waited - std::min(waited, mpi_waited));
    rank.computing = timers::seconds(wall - waited - std::min(wall - waited, mpi_running));
    return rank;
  }

  void add_call(int rank, std::uint64_t address, std::uint16_t function, const CallTimes& times) {
    const std::size_t site = sites_.at(address);
    const auto [entry, fresh] = calls_.try_emplace({site, function});
    ProfiledCall& call = entry->second;
    if (fresh) {
      call.function = function_name(function);
      call.site = sites_[site];
    }
    call.total.add(times);
    if (!call.ranks.empty() && call.ranks.back().rank == rank) {
      call.ranks.back().times.add(times);
    } else {
      call.ranks.push_back({rank, times});
    }
  }

  const Recording& recording_;
  CallSites& sites_;
  std::map<std::pair<std::size_t, std::uint16_t>, ProfiledCall> calls_;
};

ProfiledWorker worker_of(int index, std::uint64_t last_tick, std::string name) {
  const mpi::tool::WorkerTimes times = mpi::tool::times_of_worker(index, last_tick);
  ProfiledWorker worker;
  worker.name = std::move(name);
  worker.busy = timers::seconds(times.busy);
  worker.idle = timers::seconds(times.idle);
  worker.switches = times.switches;
  return worker;
}

std::variant<std::uint64_t, double> value_of(const mpi::tool::Variable& variable, std::uint64_t value) {
  if (variable.type() == MPI_DOUBLE) return mpi::tool::seconds_of(variable, value);
  return value;
}

// Everything that the tools interface can be asked for but what is bound to something, or what a moment shows. Asks the
// matchers, while ranks may still run.
void add_variables(Profile& profile) {
  const Claim claim(sched::bias());
  mpi::Job& job = *mpi::job();
  std::vector<std::uint64_t> values;
  for (const mpi::tool::Variable& variable : mpi::tool::variables()) {
    using mpi::tool::Extent;
    if (variable.kind == MPI_T_PVAR_CLASS_LEVEL || variable.kind == MPI_T_PVAR_CLASS_STATE) continue;
    for (int local = 0; local < job.local_count(); ++local) {
      const mpi::tool::Subject subject{job.local_at(local)};
      if (variable.extent == Extent::kPeers || (variable.extent != Extent::kRank && local > 0)) break;
      values.resize(static_cast<std::size_t>(mpi::tool::count_of(variable, subject)));
      variable.read(subject, values);
      if (variable.extent == Extent::kRank) {
        std::uint64_t value = values[0];
        if (variable.restart != nullptr)  // what it was before tools have let it begin anew
          value = std::max(value, mpi::value_of(subject.rank.figures.most_unexpected));
        profile.ranks[static_cast<std::size_t>(local)].variables[variable.name] = value_of(variable, value);
      } else if (variable.extent == Extent::kWorkers) {
        for (std::size_t i = 0; i < values.size(); ++i)
          profile.workers[i].variables[variable.name] = value_of(variable, values[i]);
      } else {
        profile.processes[0].variables[variable.name] = value_of(variable, values[0]);
      }
    }
  }
}

}  // namespace

Profile collect_profile(const Recording& recording, const JobDescription& job, CallSites& sites) {
  Profile profile;
  profile.node = job.node;
  profile.program = job.program;
  profile.hosts = {job.host};
  profile.cores_per_worker = job.cores_per_worker;
  profile.oversubscribed = job.oversubscribed;
  profile.ended_early = job.ended_early;
  profile.seconds = timers::seconds(recording.last_tick() - recording.first_tick());
  profile.foreign_calls = recording.foreign_calls();
  for (std::size_t i = 0; i < recording.workers().size(); ++i)
    profile.workers.push_back(worker_of(static_cast<int>(i), recording.last_tick(), job.workers[i]));
  for (std::size_t i = 0; i < profile.workers.size(); ++i)
    profile.workers[i].over_time =
        bins_of(recording.workers()[i].bins, recording.last_tick() - recording.first_tick());
  profile.processes = {{profile.node, {}, {}, {}}};
  for (std::size_t i = 0; i < profile.workers.size(); ++i)
    profile.workers[i].held = 1e-9 * static_cast<double>(sched::scheduler()->held(static_cast<int>(i)));
  Collector collector(recording, sites);
  for (std::size_t local = 0; local < recording.rank_count(); ++local) collector.add_rank(profile, local);
  add_variables(profile);
  profile.calls = collector.calls();
  sort_calls(profile);
  profile.line_numbers = sites.have_line_numbers();
  if (mpi::job()->nodes() > 1) {
    const double wake_up = job.ended_early ? 0 : sched::wake_up_cost();
    profile.network = {mpi::remote::describe(), wake_up, mpi::remote::counters()};
  }
  return profile;
}

}  // namespace tmpi::observe
