#include "mpi/tool/variables.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/remote/remote.hpp"
#include "mpi/tool/activity.hpp"
#include "mpi/tool/traffic.hpp"
#include "sched/assist.hpp"
#include "sched/file_calls.hpp"
#include "sched/move.hpp"
#include "sched/offload.hpp"
#include "sched/scheduler.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::tool {
namespace {

using Values = std::span<std::uint64_t>;

// ---- Messages

template <MessageFigures RankFigures::*kWhich, Figure MessageFigures::*kWhat>
void read_messages(const Subject& subject, Values values) {
  values[0] = value_of(subject.rank.figures.*kWhich.*kWhat);
}

template <Departure kWay, Figure MessageFigures::*kWhat>
void read_way(const Subject& subject, Values values) {
  constexpr auto way = static_cast<std::size_t>(kWay);
  const RankFigures& figures = subject.rank.figures;
  values[0] = value_of(figures.ways[way].*kWhat) + value_of(figures.remote_ways[way].*kWhat);
}

template <MessageFigures CommTraffic::Peer::*kWhich, Figure MessageFigures::*kWhat>
void read_traffic(const Subject& subject, Values values) {
  for (std::size_t peer = 0; peer < values.size(); ++peer)
    values[peer] = value_of(subject.traffic->by_peer[peer].*kWhich.*kWhat);
}

// ---- Queues

template <class Ask>
std::uint64_t ask_matcher(Rank& rank, Ask&& ask) {
  const MatcherLock lock(rank.matcher);
  return ask(rank.matcher);
}

void read_posted(const Subject& subject, Values values) {
  values[0] = ask_matcher(subject.rank, [](Matcher& matcher) { return matcher.posted_count(); });
}
void read_unexpected(const Subject& subject, Values values) {
  values[0] = ask_matcher(subject.rank, [](Matcher& matcher) { return matcher.unexpected_count(); });
}
void read_unexpected_total(const Subject& subject, Values values) {
  values[0] = ask_matcher(subject.rank, [](Matcher& matcher) { return matcher.unexpected_total(); });
}
void read_unexpected_bytes(const Subject& subject, Values values) {
  values[0] = subject.rank.matcher.buffered_bytes();
}

// Handles let the mark begin anew; the highest of all is kept for the profile.
void read_most_unexpected(const Subject& subject, Values values) {
  values[0] = ask_matcher(subject.rank, [](Matcher& matcher) { return matcher.most_unexpected(); });
}
void restart_most_unexpected(Rank& rank) {
  ask_matcher(rank, [&](Matcher& matcher) {
    const std::uint64_t most =
        std::max<std::uint64_t>(matcher.most_unexpected(), value_of(rank.figures.most_unexpected));
    rank.figures.most_unexpected.store(most, std::memory_order_relaxed);
    matcher.restart_most_unexpected();
    return most;
  });
}

// ---- Time of ranks

template <std::uint64_t RankTimes::*kWhat>
void read_time(const Subject& subject, Values values) {
  values[0] = times_of(subject.rank, timers::now_ticks()).*kWhat;
}
void read_waits(const Subject& subject, Values values) {
  values[0] = value_of(subject.rank.figures.waits);
}
void read_moves(const Subject& subject, Values values) {
  const sched::Task* const task = subject.rank.task;
  values[0] = task != nullptr ? sched::moves_of(*task) : 0;
}
void read_states(const Subject&, Values values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const sched::Task* const task = job()->local_at(static_cast<int>(i)).task;
    values[i] = static_cast<std::uint64_t>(task != nullptr ? task->get_state() : sched::TaskState::kInit);
  }
}

// ---- Cores

template <class Ask>
void ask_workers(Values values, Ask&& ask) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = ask(static_cast<int>(i));
}

template <std::uint64_t WorkerTimes::*kWhat>
void read_worker(const Subject&, Values values) {
  const std::uint64_t now = timers::now_ticks();
  ask_workers(values, [&](int worker) { return times_of_worker(worker, now).*kWhat; });
}
void read_held(const Subject&, Values values) {
  ask_workers(values, [](int worker) { return sched::scheduler()->held(worker); });
}
void read_ready(const Subject&, Values values) {
  ask_workers(values,
              [](int worker) { return static_cast<std::uint64_t>(sched::scheduler()->ready(worker)); });
}
void read_moves_to(const Subject&, Values values) {
  ask_workers(values, [](int worker) { return sched::scheduler()->moves_to(worker); });
}
void read_assists(const Subject&, Values values) {
  ask_workers(values, [](int worker) { return sched::scheduler()->assist_point(worker).pieces(); });
}

// ---- Memory, network

void read_stack_size(const Subject&, Values values) {
  values[0] = sched::scheduler()->stack_size();
}
void read_stack_used(const Subject& subject, Values values) {
  const sched::Task* const task = subject.rank.task;
  values[0] = task != nullptr ? sched::scheduler()->stack_high_water(*task) : 0;
}

template <std::uint64_t remote::ProtocolCounters::*kWhat>
void read_network(const Subject&, Values values) {
  values[0] = remote::counters().*kWhat;
}

// ---- The table

constexpr int kCounter = MPI_T_PVAR_CLASS_COUNTER;
constexpr int kSum = MPI_T_PVAR_CLASS_AGGREGATE;
constexpr int kTimer = MPI_T_PVAR_CLASS_TIMER;
constexpr int kLevel = MPI_T_PVAR_CLASS_LEVEL;
constexpr int kMark = MPI_T_PVAR_CLASS_HIGHWATERMARK;
constexpr int kBasic = MPI_T_VERBOSITY_USER_BASIC;
constexpr int kDetail = MPI_T_VERBOSITY_USER_DETAIL;
constexpr int kTuner = MPI_T_VERBOSITY_TUNER_DETAIL;
constexpr auto kNumber = Unit::kNumber;

constexpr auto kMessages = &MessageFigures::messages;
constexpr auto kBytes = &MessageFigures::bytes;
using Net = remote::ProtocolCounters;

constexpr Variable kVariables[] = {
    {"tmpi_messages_sent", kCounter, kBasic, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_messages<&RankFigures::sent, kMessages>, nullptr, "Messages that the rank has sent."},
    {"tmpi_bytes_sent", kSum, kBasic, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_messages<&RankFigures::sent, kBytes>, nullptr, "Bytes in messages that the rank has sent."},
    {"tmpi_messages_received", kCounter, kBasic, Category::kMessages, Extent::kRank, Needs::kMessages,
     kNumber, read_messages<&RankFigures::received, kMessages>, nullptr,
     "Messages to the rank that have been matched with a receive."},
    {"tmpi_bytes_received", kSum, kBasic, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_messages<&RankFigures::received, kBytes>, nullptr,
     "Bytes in messages to the rank that have been matched with a receive."},
    {"tmpi_sent_direct", kCounter, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_way<Departure::kDirect, kMessages>, nullptr,
     "Messages that the rank has copied straight into the buffer of a receive that had been posted."},
    {"tmpi_sent_direct_bytes", kSum, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_way<Departure::kDirect, kBytes>, nullptr, "Bytes in such messages."},
    {"tmpi_sent_eager", kCounter, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_way<Departure::kEager, kMessages>, nullptr,
     "Messages that the library has taken a copy of, or that have gone to another node without asking "
     "first."},
    {"tmpi_sent_eager_bytes", kSum, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_way<Departure::kEager, kBytes>, nullptr, "Bytes in such messages."},
    {"tmpi_sent_rendezvous", kCounter, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages, kNumber,
     read_way<Departure::kRendezvous, kMessages>, nullptr,
     "Messages that had to wait in the sender's buffer for their receive."},
    {"tmpi_sent_rendezvous_bytes", kSum, kDetail, Category::kMessages, Extent::kRank, Needs::kMessages,
     kNumber, read_way<Departure::kRendezvous, kBytes>, nullptr, "Bytes in such messages."},
    {"tmpi_messages_unexpected", kCounter, kDetail, Category::kMessages, Extent::kRank, Needs::kNothing,
     kNumber, read_unexpected_total, nullptr,
     "Messages to the rank that have come before their receive was posted."},
    {"tmpi_comm_messages_sent", kCounter, kDetail, Category::kMessages, Extent::kPeers, Needs::kMessages,
     kNumber, read_traffic<&CommTraffic::Peer::sent, kMessages>, nullptr,
     "Messages sent in the communicator, by destination: point-to-point, and of blocking collectives."},
    {"tmpi_comm_bytes_sent", kSum, kDetail, Category::kMessages, Extent::kPeers, Needs::kMessages, kNumber,
     read_traffic<&CommTraffic::Peer::sent, kBytes>, nullptr, "Bytes in such messages, by destination."},
    {"tmpi_comm_messages_received", kCounter, kDetail, Category::kMessages, Extent::kPeers, Needs::kMessages,
     kNumber, read_traffic<&CommTraffic::Peer::received, kMessages>, nullptr,
     "Messages of the communicator that have been matched with a receive, by source."},
    {"tmpi_comm_bytes_received", kSum, kDetail, Category::kMessages, Extent::kPeers, Needs::kMessages,
     kNumber, read_traffic<&CommTraffic::Peer::received, kBytes>, nullptr,
     "Bytes in such messages, by source."},

    {"tmpi_posted_receives", kLevel, kDetail, Category::kQueues, Extent::kRank, Needs::kNothing, kNumber,
     read_posted, nullptr, "Receives of the rank that wait for their message."},
    {"tmpi_unexpected_messages", kLevel, kBasic, Category::kQueues, Extent::kRank, Needs::kNothing, kNumber,
     read_unexpected, nullptr, "Messages that wait at the rank for their receive."},
    {"tmpi_unexpected_bytes", kLevel, kDetail, Category::kQueues, Extent::kRank, Needs::kNothing, kNumber,
     read_unexpected_bytes, nullptr, "Bytes of copies that the library keeps of such messages."},
    {"tmpi_unexpected_most", kMark, kDetail, Category::kQueues, Extent::kRank, Needs::kNothing, kNumber,
     read_most_unexpected, restart_most_unexpected,
     "The most messages that have waited at the rank for their receive at a time."},

    {"tmpi_time_running", kTimer, kBasic, Category::kTime, Extent::kRank, Needs::kSwitches, Unit::kTicks,
     read_time<&RankTimes::running>, nullptr,
     "Time in which the rank has had its core, inside MPI or outside."},
    {"tmpi_time_waiting", kTimer, kBasic, Category::kTime, Extent::kRank, Needs::kSwitches, Unit::kTicks,
     read_time<&RankTimes::waited>, nullptr, "Time in which the rank was suspended."},
    {"tmpi_time_idle", kTimer, kBasic, Category::kTime, Extent::kRank, Needs::kSwitches, Unit::kTicks,
     read_time<&RankTimes::idled>, nullptr,
     "The part of it in which its core had nothing else to run until the rank went on."},
    {"tmpi_waits", kCounter, kDetail, Category::kTime, Extent::kRank, Needs::kSwitches, kNumber, read_waits,
     nullptr, "How often the rank was suspended."},
    {"tmpi_moves", kCounter, kDetail, Category::kTime, Extent::kRank, Needs::kNothing, kNumber, read_moves,
     nullptr, "How often the rank has changed its core (--balance)."},
    {"tmpi_rank_state", MPI_T_PVAR_CLASS_STATE, kDetail, Category::kTime, Extent::kRanks, Needs::kNothing,
     kNumber, read_states, nullptr,
     "What each rank of the node process is doing, in ascending order of their numbers."},

    {"tmpi_core_busy", kTimer, kBasic, Category::kCores, Extent::kWorkers, Needs::kSwitches, Unit::kTicks,
     read_worker<&WorkerTimes::busy>, nullptr, "Time in which a rank ran."},
    {"tmpi_core_idle", kTimer, kBasic, Category::kCores, Extent::kWorkers, Needs::kSwitches, Unit::kTicks,
     read_worker<&WorkerTimes::idle>, nullptr, "Time in which no rank ran."},
    {"tmpi_core_held", kTimer, kDetail, Category::kCores, Extent::kWorkers, Needs::kNothing,
     Unit::kNanoseconds, read_held, nullptr,
     "Time in which ready ranks have waited for one that slept without giving its core away."},
    {"tmpi_core_switches", kCounter, kDetail, Category::kCores, Extent::kWorkers, Needs::kSwitches, kNumber,
     read_worker<&WorkerTimes::switches>, nullptr, "Stretches in which a rank ran."},
    {"tmpi_core_ready", kLevel, kBasic, Category::kCores, Extent::kWorkers, Needs::kNothing, kNumber,
     read_ready, nullptr, "Ranks that are ready to run, the one that runs not counted."},
    {"tmpi_core_moves", kCounter, kDetail, Category::kCores, Extent::kWorkers, Needs::kNothing, kNumber,
     read_moves_to, nullptr, "How often a rank has come from another core (--balance)."},
    {"tmpi_core_assists", kCounter, kDetail, Category::kCores, Extent::kWorkers, Needs::kNothing, kNumber,
     read_assists, nullptr,
     "Pieces of large messages that the core has copied for another one while it waited."},

    {"tmpi_stack_size", MPI_T_PVAR_CLASS_SIZE, kDetail, Category::kMemory, Extent::kRank, Needs::kNothing,
     kNumber, read_stack_size, nullptr, "Bytes of the rank's stack (--stack-size)."},
    {"tmpi_stack_used", kMark, kBasic, Category::kMemory, Extent::kRank, Needs::kNothing, kNumber,
     read_stack_used, nullptr,
     "Bytes of its stack that the rank has ever touched; 0 where that is not known."},

    {"tmpi_network_eager", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::eager>, nullptr, "Messages sent at once."},
    {"tmpi_network_eager_bytes", kSum, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::eager_bytes>, nullptr, "Bytes in them."},
    {"tmpi_network_rendezvous", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing,
     kNumber, read_network<&Net::rendezvous>, nullptr, "Messages that have asked first."},
    {"tmpi_network_rendezvous_bytes", kSum, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing,
     kNumber, read_network<&Net::rendezvous_bytes>, nullptr, "Bytes in them."},
    {"tmpi_network_early", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::early>, nullptr,
     "Large messages sent at once, to a receive that had been announced."},
    {"tmpi_network_early_bytes", kSum, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::early_bytes>, nullptr, "Bytes in them."},
    {"tmpi_network_reads", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::reads>, nullptr,
     "Large messages, puts and gets whose data this process has read itself from another one's memory."},
    {"tmpi_network_read_bytes", kSum, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing, kNumber,
     read_network<&Net::read_bytes>, nullptr, "Bytes in them."},
    {"tmpi_network_one_sided", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing,
     kNumber, read_network<&Net::one_sided>, nullptr,
     "Messages of one-sided communication: operations, their pieces, locks, answers."},
    {"tmpi_network_one_sided_bytes", kSum, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing,
     kNumber, read_network<&Net::one_sided_bytes>, nullptr, "Bytes in them."},
    {"tmpi_network_deferred", kCounter, kTuner, Category::kNetwork, Extent::kProcess, Needs::kNothing,
     kNumber, read_network<&Net::deferred>, nullptr,
     "How often something had to wait until the network took more."},
    {"tmpi_files_uring", kCounter, kTuner, Category::kCores, Extent::kProcess, Needs::kNothing, kNumber,
     [](const Subject&, Values values) { values[0] = sched::calls_by_ring(); }, nullptr,
     "System calls on files that the kernel has made beside the cores (--file-io, io_uring)."},
    {"tmpi_files_threads", kCounter, kTuner, Category::kCores, Extent::kProcess, Needs::kNothing, kNumber,
     [](const Subject&, Values values) { values[0] = sched::calls_by_pool(); }, nullptr,
     "How often threads beside the cores have been given system calls on files."},
};

}  // namespace

bool Variable::continuous() const noexcept {
  return !sums() && restart == nullptr;
}

bool Variable::sums() const noexcept {
  return kind == kCounter || kind == kSum || kind == kTimer;
}

MPI_Datatype Variable::type() const noexcept {
  if (kind == MPI_T_PVAR_CLASS_STATE) return MPI_INT;
  return unit == Unit::kNumber ? MPI_UNSIGNED_LONG_LONG : MPI_DOUBLE;
}

const Enumeration* Variable::enumeration() const {
  if (kind != MPI_T_PVAR_CLASS_STATE) return nullptr;
  static const Enumeration* const states = [] {
    std::vector<std::pair<int, std::string>> items;
    for (const auto state : {sched::TaskState::kInit, sched::TaskState::kRunning, sched::TaskState::kReady,
                             sched::TaskState::kBlocked, sched::TaskState::kFinished})
      items.emplace_back(static_cast<int>(state), sched::to_string(state));
    return &add_enumeration("tmpi_rank_states", std::move(items));
  }();
  return states;
}

std::span<const Variable> variables() noexcept {
  return kVariables;
}

int find_variable(std::string_view name, int kind) noexcept {
  const auto* const found = std::ranges::find_if(
      kVariables, [&](const Variable& each) { return each.name == name && each.kind == kind; });
  return found == std::end(kVariables) ? -1 : static_cast<int>(found - kVariables);
}

int count_of(const Variable& variable, const Subject& subject) noexcept {
  switch (variable.extent) {
    case Extent::kWorkers:
      return sched::scheduler()->workers();
    case Extent::kRanks:
      return job()->local_count();
    case Extent::kPeers:
      return subject.traffic->peers->size();
    default:
      return 1;
  }
}

double seconds_of(const Variable& variable, std::uint64_t value) noexcept {
  return variable.unit == Unit::kTicks ? timers::seconds(value) : 1e-9 * static_cast<double>(value);
}

void store(const Variable& variable, std::span<const std::uint64_t> values, void* buffer) noexcept {
  const MPI_Datatype type = variable.type();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == MPI_DOUBLE) {
      static_cast<double*>(buffer)[i] = seconds_of(variable, values[i]);
    } else if (type == MPI_INT) {
      static_cast<int*>(buffer)[i] = static_cast<int>(values[i]);
    } else {
      static_cast<unsigned long long*>(buffer)[i] = values[i];
    }
  }
}

void load(const Variable& variable, const void* buffer, std::span<std::uint64_t> values) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (variable.type() == MPI_DOUBLE) {
      const double seconds = std::max(static_cast<const double*>(buffer)[i], 0.0);
      values[i] =
          variable.unit == Unit::kTicks ? timers::ticks(seconds) : static_cast<std::uint64_t>(seconds * 1e9);
    } else {
      values[i] = static_cast<const unsigned long long*>(buffer)[i];
    }
  }
}

}  // namespace tmpi::mpi::tool
