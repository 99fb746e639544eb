// RankLog: the choices of one rank, in the order of its calls: written down (--record), given back (--replay), or given back
// as far as a record goes and written down all the while. Whoever makes a choice asks with ahead() what the record says,
// does it, and tells with note() what came of it. By the rank's own flow of control; does not suspend.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mpi.h"
#include "replay/choice.hpp"
#include "replay/chunk_writer.hpp"

namespace tmpi::replay {

/// What a receive or probe asks for. In replay a wildcard's is what it got when it was recorded.
struct Envelope {
  int source;
  int tag;
};

/// Of a test or probe that may say that nothing is there yet.
enum class Answer : std::uint8_t {
  kFree,  ///< look
  kNo,    ///< it said no
  kYes,   ///< it said yes: wait until that is so
};

struct PersistentReceive {
  Envelope envelope;
  MPI_Comm comm;
};

/// A receive that is posted, by its numbers.
struct OpenReceive {
  std::optional<std::uint32_t> wild;      ///< among those with wildcards
  std::optional<std::uint32_t> explored;  ///< among all receives of a run that is explored
};

/// Where a replay departs from its record.
struct Departure {
  std::uint64_t choice;  ///< counted from 1, of the rank
  std::string recorded;
  std::string asked;
};

class ExploredLog;

class RankLog {
 public:
  /// Any may be missing: `file`, and `record`, which outlives the log; `explored_file`: of a run that is explored.
  RankLog(int rank, ChunkFile* file, const std::string* record, ChunkFile* explored_file = nullptr);
  ~RankLog();

  /// Whether a call of the rank is being noted: another one is made from inside of it.
  void set_noting(bool noting) noexcept { noting_.store(noting, std::memory_order_relaxed); }
  bool noting() const noexcept { return noting_.load(std::memory_order_relaxed); }

  /// Sends wait for their receives in this run.
  bool synchronous() const noexcept { return synchronous_; }

  /// Of a run that --explore looks at; else null.
  ExploredLog* explored_log() const noexcept { return explored_log_.get(); }

  /// What the record says is next, and that it is being done by `call`; null if nothing is recorded here: there is no
  /// record, or its end, which is not the rank's, has come. Leaves by depart() if something else is recorded.
  const Choice* ahead(ChoiceKind kind, const char* call);
  bool next_is(ChoiceKind kind) const noexcept { return replays_ && next_.kind == kind; }
  /// It has been done. In replay it is what was recorded, or the replay departs.
  void note(const Choice& choice, const char* call);

  /// The same for calls that say yes or no. `what`: they ask for, in a run that is explored; null: their answer is not varied.
  Answer poll(const char* call, const void* what);
  void polled(bool yes, const char* call);

  /// A nonblocking receive with a wildcard is posted, or a persistent one started: its number, and what it is to ask for.
  std::uint32_t post(Envelope& wanted);
  void posted(const void* request, const OpenReceive& receive) { open_[request] = receive; }
  /// Posted, and neither complete nor freed yet.
  bool is_open(const void* request) const { return open_.contains(request); }
  bool any_open() const noexcept { return !open_.empty(); }
  /// It is complete: took this message, or none.
  void completed(const void* request, std::optional<Envelope> took, const char* call);
  void forget(const void* request) { open_.erase(request); }

  /// Persistent receives that are to be noted, and what each asks for.
  std::unordered_map<const void*, PersistentReceive>& persistent() noexcept { return persistent_; }

  /// Times, of a few clocks, in nanoseconds: what the program gets.
  std::int64_t time(unsigned clock, std::int64_t now, const char* call);

  /// The rank has come to its end.
  void end();

  // For reports; any thread.
  int rank() const noexcept { return rank_; }
  std::uint64_t choices() const noexcept { return done_.load(std::memory_order_relaxed); }
  /// The call that is doing what was recorded, null: none.
  const char* doing() const noexcept { return doing_.load(std::memory_order_relaxed); }
  /// What is recorded for it, without texts and indices.
  Choice recorded() const;
  /// The replay has not come to the end of the record.
  bool more_recorded() const noexcept { return replays_ && next_.kind != ChoiceKind::kEnd; }
  /// Why this rank's record does not repeat it; null: it does. The texts live as long as the process.
  std::atomic<const char*> spoilt{nullptr};

  /// Ends the job with a sentence; set by whoever hosts the ranks. Does not return.
  static void (*depart)(RankLog& log, const char* call, const Departure& departure);

 private:
  void advance();
  bool follow_plan();
  void scan(std::string_view record);
  void write(const Choice& choice);
  [[noreturn]] void leave(const char* call, const std::string& asked);

  const int rank_;
  std::atomic<bool> noting_{false};  ///< looked at by the rank's handlers of signals
  std::unique_ptr<ExploredLog> explored_log_;
  std::unique_ptr<ChunkWriter> out_;
  int out_tag_ = 0;
  std::string bytes_;
  std::uint64_t nos_ = 0;  ///< that the last choice written says

  std::string_view in_;
  int in_tag_ = 0;
  Choice next_;
  bool replays_ = false;  ///< next_ is there
  bool synchronous_ = false;
  std::uint64_t said_ = 0;  ///< of a kPoll: how many noes it has given back
  std::unordered_map<std::uint32_t, Envelope>
      took_;  ///< by number of a nonblocking receive, all of the record

  std::uint32_t posts_ = 0;
  std::int64_t completions_ = 0;  ///< of receives with numbers
  std::unordered_map<const void*, OpenReceive> open_;
  std::unordered_map<const void*, PersistentReceive> persistent_;
  static constexpr unsigned kClocks = 8;
  std::int64_t last_time_[kClocks] = {};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<const char*> doing_{nullptr};
};

}  // namespace tmpi::replay
