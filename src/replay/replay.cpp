#include "replay/replay.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "mpi/p2p/observer.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/forked.hpp"
#include "mpi/rank/threads.hpp"
#include "replay/clocks.hpp"
#include "replay/explored_events.hpp"
#include "replay/explored_log.hpp"
#include "replay/logs.hpp"
#include "replay/record_file.hpp"

namespace tmpi::replay {
namespace {

constexpr std::size_t kMostSentences = 20;

struct Logs {
  ReplayOptions options;
  std::unique_ptr<ChunkFile> file;           // null: nothing is recorded
  std::unique_ptr<ChunkFile> explored_file;  // null: the run is not explored
  std::optional<Record> record;
  std::vector<std::atomic<RankLog*>>
      ranks;  // by local index; null: the rank has made no choice yet. Release, acquire
};

Logs* the_logs = nullptr;  // written before any rank runs; lives as long as the process

RankLog* make_log(const mpi::Rank& rank) {
  const std::string* record = nullptr;
  if (the_logs->record) {
    const auto found = the_logs->record->ranks.find(rank.world_rank);
    static const std::string nothing;
    record = found == the_logs->record->ranks.end() ? &nothing : &found->second;
  }
  return new RankLog(rank.world_rank, the_logs->file.get(), record, the_logs->explored_file.get());
}

/// Of a rank whose flow of control is the only one that makes it.
RankLog& log_of(const mpi::Rank& rank) {
  std::atomic<RankLog*>& place = the_logs->ranks[static_cast<std::size_t>(rank.local_index)];
  RankLog* log = place.load(std::memory_order_acquire);
  if (log == nullptr) [[unlikely]] {
    log = make_log(rank);
    place.store(log, std::memory_order_release);
  }
  return *log;
}

constexpr const char* kThreads = "threads that it has created call MPI, in an order that is not recorded";
constexpr const char* kCallbacks =
    "callbacks of its (error handlers, query functions, handlers of signals) make calls inside calls that "
    "are "
    "recorded, and what these come to is not";

void depart(RankLog& log, const char* call, const Departure& where) {
  mpi::Rank& rank = *mpi::calling_rank();
  const std::string text = fmt::format(
      "rank {} on {}: {}: the replay departs from {} at choice {} of this rank. Recorded is {}; the program "
      "asks for {}. "
      "Program, arguments and input must be those that were recorded; what else can make a run differ is in "
      "docs/design/replay.md",
      log.rank(), mpi::job()->host(), call, the_logs->options.replay, where.choice, where.recorded,
      where.asked);
  mpi::callbacks().abort_job(rank, MPI_ERR_OTHER, text);
}

// By those that the library sends for collectives, too: nobody asks for these.
void on_sent(mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count) noexcept {
  if (!mpi::is_main_flow() || mpi::calling_rank() != &from) return;
  log_of(from).explored_log()->sent(key.context, key.source, key.tag, to);
}

const Version* find(const std::vector<Version>& versions, std::string_view name) {
  for (const Version& version : versions) {
    if (name == version.name) return &version;
  }
  return nullptr;
}

/// What a rank is doing that was recorded, for a replay that has come to a standstill.
std::string standstill(const RankLog& log, const char* call) {
  return fmt::format("replay: rank {} is at its choice {}, in {}. Recorded is {}", log.rank(),
                     log.choices() + 1, call, describe(log.recorded()));
}

}  // namespace

Clocks& clocks() noexcept {
  static Clocks all;
  return all;
}

bool sends_wait() noexcept {
  const mpi::Rank* const rank = mpi::in_forked_child() ? nullptr : mpi::calling_rank();
  return rank != nullptr && mpi::is_main_flow() && log_of(*rank).synchronous();
}

bool explored() noexcept {
  return the_logs->explored_file != nullptr;
}

namespace {

/// Null: the call is not to be recorded.
RankLog* usable_log() noexcept {
  const mpi::Rank* const rank = mpi::in_forked_child() ? nullptr : mpi::calling_rank();
  if (rank == nullptr) return nullptr;
  if (!mpi::is_main_flow()) {
    spoil(kThreads);
    return nullptr;
  }
  RankLog& log = log_of(*rank);
  if (!log.noting()) return &log;
  spoil(kCallbacks);
  return nullptr;
}

}  // namespace

OpenLog log_of_caller() noexcept {
  RankLog* const log = usable_log();
  return log == nullptr ? OpenLog() : OpenLog(*log);
}

OpenLog log_of_completion() noexcept {
  RankLog* const log = usable_log();
  return log == nullptr || !log->any_open() ? OpenLog() : OpenLog(*log);
}

void spoil(const char* why) noexcept {
  const mpi::Rank* const rank = mpi::calling_rank();
  if (rank == nullptr) return;
  RankLog* const log =
      the_logs->ranks[static_cast<std::size_t>(rank->local_index)].load(std::memory_order_acquire);
  if (log != nullptr)
    log->spoilt.store(why, std::memory_order_relaxed);
  else if (mpi::is_main_flow())
    log_of(*rank).spoilt.store(why, std::memory_order_relaxed);
}

Result<void> begin(const ReplayOptions& options) {
  auto logs = std::make_unique<Logs>();
  logs->options = options;
  if (!options.replay.empty()) {
    Result<Record> record = read_record(options.replay);
    if (!record) return Failure{fmt::format("--replay {}: {}", options.replay, record.message())};
    logs->record = *std::move(record);
  }
  if (!options.record.empty()) {
    Result<std::unique_ptr<ChunkFile>> file = ChunkFile::open(options.record, options.node);
    if (!file)
      return Failure{fmt::format("--record {}: on host {}: {}. All hosts of the job must see the file",
                                 options.record, mpi::job()->host(), file.message())};
    logs->file = *std::move(file);
  }
  if (!options.explored_file.empty()) {
    Result<std::unique_ptr<ChunkFile>> file = ChunkFile::open(options.explored_file, options.node);
    if (!file) return Failure{fmt::format("--explore: {}: {}", options.explored_file, file.message())};
    logs->explored_file = *std::move(file);
    static constexpr mpi::MessageObserver kSent{.sent = &on_sent};
    mpi::observe_messages(kSent);
  }
  logs->ranks = std::vector<std::atomic<RankLog*>>(static_cast<std::size_t>(mpi::job()->most_local()));
  the_logs = logs.release();
  RankLog::depart = &depart;
  return {};
}

const void* version_of(const char* name) noexcept {
  if (the_logs == nullptr) return nullptr;
  std::string_view wanted = name;
  if (wanted.starts_with("PMPI")) wanted.remove_prefix(1);
  if (explored()) {
    if (const Version* found = find(collectives(), wanted)) return found->function;
  }
  if (explored() || the_logs->record) {
    if (const Version* found = find(sends(), wanted)) return found->function;
  }
  for (const auto* versions :
       {&receives(), &completions(), &surroundings(), &not_recorded(), &system_functions()}) {
    if (const Version* found = find(*versions, wanted)) return found->function;
  }
  return nullptr;
}

void call_for_times(const void* (*function_of)(const char* name)) noexcept {
  const auto take = [&](const char* name, auto& function) {
    const void* const own = function_of(name);
    if (own != nullptr) std::memcpy(&function, &own, sizeof own);
  };
  take("clock_gettime", clocks().clock_gettime);
  take("gettimeofday", clocks().gettimeofday);
  take("timespec_get", clocks().timespec_get);
  take("time", clocks().time);
  take("getrandom", clocks().getrandom);
}

std::vector<std::string> finish(bool early) {
  static std::atomic<bool> finished{false};
  std::vector<std::string> sentences;
  if (the_logs == nullptr || finished.exchange(true)) return sentences;
  for (const std::atomic<RankLog*>& place : the_logs->ranks) {
    RankLog* const log = place.load(std::memory_order_acquire);
    if (log == nullptr) continue;
    if (!early) log->end();
    if (sentences.size() >= kMostSentences) continue;
    if (const char* why = log->spoilt.load(std::memory_order_relaxed))
      sentences.push_back(fmt::format("warning: a replay may not repeat rank {}: {}", log->rank(), why));
    if (const char* call = log->doing(); early && call != nullptr)
      sentences.push_back(standstill(*log, call));
    if (!early && log->more_recorded()) {
      sentences.push_back(fmt::format(
          "warning: rank {} has come to its end after {} choices, but more is recorded: next is {}",
          log->rank(), log->choices(), describe(log->recorded())));
    }
  }
  if (explored()) {
    for (const ChunkFile* file : {the_logs->explored_file.get(), the_logs->file.get()}) {
      if (file != nullptr && file->full())
        sentences.push_back(fmt::format("{}: {}", kCannotExplore, file->why()));
    }
  } else if (the_logs->file != nullptr && the_logs->file->full()) {
    sentences.push_back(fmt::format("warning: --record {}: the record is not complete: {}",
                                    the_logs->options.record, the_logs->file->why()));
  }
  return sentences;
}

}  // namespace tmpi::replay
