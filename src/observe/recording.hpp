// Recording: what is written down while a job runs under --profile or --trace. Three sources: the wrappers
// around MPI functions (recorder.hpp), every switch of a rank, and every message (mpi's observer). What switches and
// messages come to is counted below, for the tools interface as well (mpi/tool/activity.hpp, mpi/rank/figures.hpp). Each rank's figures are written by that rank or by its worker, each worker's by that worker: no
// locks. Reading is for the end, when nobody writes any more, or after stop().
//
// A thread that a rank has created is not a rank: its MPI calls are counted but not recorded.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/platform.hpp"
#include "base/result.hpp"
#include "base/spinlock.hpp"
#include "mpi/rank/rank.hpp"
#include "observe/algorithm_tally.hpp"
#include "observe/event_ring.hpp"
#include "observe/sent_tally.hpp"
#include "observe/site_table.hpp"
#include "observe/time_bins.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::observe {

/// One rank. Times in ticks. A rank is running or suspended from its first switch to its last:
/// life = running + waited.
struct alignas(kCacheLine) RankRecord {
  // Constant.
  const mpi::RankFigures* figures = nullptr;  ///< what switches have written
  int world_rank = 0;

  std::uint64_t waited() const noexcept { return mpi::value_of(figures->waited); }
  std::uint64_t idled() const noexcept { return mpi::value_of(figures->idled); }

  // Written by its calls.
  bool paused = false;           ///< by MPI_Pcontrol(0)
  mpi::Caller comes_from;        ///< of the next call, null: what the recorder sees
  std::uint32_t open = 0;        ///< calls it is in: more than one inside a callback of the program
  std::uint64_t call_begin = 0;  ///< of the outermost one, with what follows
  std::uint64_t call_address = 0;
  std::uint64_t call_waited = 0;  ///< `waited` and `idled` when it began
  std::uint64_t call_idled = 0;
  std::uint16_t call_function = 0;
  std::uint64_t mpi_wall = 0;       ///< in outermost calls that have ended
  std::uint64_t mpi_waited = 0;     ///< part of mpi_wall
  std::uint64_t initiated = 0;      ///< end of the first initiation that no wait has followed, 0: none
  std::uint64_t initiated_mpi = 0;  ///< `mpi_wall` then
  std::uint64_t between = 0;        ///< outside of MPI between an initiation and the wait that follows
  std::uint64_t pause_begin = 0;
  std::uint64_t pause_waited = 0;   ///< `waited` when the pause began
  std::uint64_t paused_wall = 0;    ///< in pauses that have ended
  std::uint64_t paused_waited = 0;  ///< part of paused_wall
  SiteTable sites;
  SentTally sent;  ///< with profile only
  AlgorithmTally algorithms;

  /// Ticks that it has run inside MPI, up to `now`, if it has run until then.
  std::uint64_t inside(std::uint64_t now) const noexcept {
    const std::uint64_t ended = mpi_wall - mpi_waited;
    if (open == 0) return ended;
    const std::uint64_t wall = now - std::min(now, call_begin), waiting = waited() - call_waited;
    return ended + wall - std::min(wall, waiting);
  }
};

/// One worker: what a profile has of it, and with trace its events. Times in ticks.
struct alignas(kCacheLine) WorkerRecord {
  std::uint64_t since = 0;            ///< begin of the present stretch of running or idling
  int ready = 0;                      ///< ranks that were ready when the present stretch began
  const sched::Task* task = nullptr;  ///< who runs in the present stretch, null: it is idle
  EventRing ring;

  // With profile, of the stretch in which a rank has run since it was switched to.
  RankRecord* running = nullptr;
  std::uint64_t switched = 0;
  std::uint64_t inside = 0;  ///< what the rank had run inside MPI before
  TimeBins bins;
};

struct RecordingOptions {
  bool profile = true;
  bool trace = false;
  std::size_t ring_bytes = std::size_t{16} << 20;  ///< of each worker
};

class Recording {
 public:
  /// Begins to record all ranks of this node process. Once, when the ranks have been spawned and before any
  /// runs. Fails if there is no memory.
  static Result<void> begin(sched::Scheduler& scheduler, const RecordingOptions& options);
  /// Null while nothing is recorded.
  static Recording* instance() noexcept;

  /// No more events are recorded. Any thread; returns when the threads that were just writing have finished, or
  /// are not heard of for a moment.
  void stop() noexcept;

  bool tracing() const noexcept { return tracing_; }
  std::uint64_t first_tick() const noexcept { return first_tick_; }
  std::uint64_t last_tick() const noexcept { return last_tick_; }  ///< after stop()
  /// Ranks that have been spawned since begin() are recorded, too: all tasks that the scheduler has now. Before they
  /// run; one thread at a time. False: no memory; they are not recorded.
  bool admit(const sched::Scheduler& scheduler) noexcept;
  std::size_t rank_count() const noexcept { return rank_count_.load(std::memory_order_acquire); }
  const RankRecord& rank(std::size_t local) const noexcept {  ///< by local index
    return *ranks_[local].load(std::memory_order_acquire);
  }
  const std::vector<WorkerRecord>& workers() const noexcept { return workers_; }
  /// Messages that were moved by threads that are no workers.
  const EventRing& other_threads() const noexcept { return others_; }
  std::uint64_t foreign_calls() const noexcept { return foreign_calls_.load(std::memory_order_relaxed); }

  // For the recorders.
  /// The calling rank, null if its call is not to be recorded: a thread that is no rank, a pause, the end.
  RankRecord* calling_rank() noexcept;
  void pause(bool pause) noexcept;  ///< MPI_Pcontrol of the calling rank
  /// The calling rank's next call, which is about to begin, is made by a wrapper around the recorder: it
  /// belongs to this call of the program.
  void call_comes_from(mpi::Caller site) noexcept;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  /// An event of the calling rank.
  void push_own(const Event& event) noexcept {
    workers_[static_cast<std::size_t>(sched::current_worker())].ring.push(event);
  }

 private:
  Recording(sched::Scheduler& scheduler, const RecordingOptions& options);
  Result<void> open_rings(std::size_t bytes);
  void push_message(const Event& event) noexcept;
  RankRecord* own(const sched::Task& task) noexcept;
  static void on_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept;
  static void on_profiled_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept;
  static void on_counted(mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count bytes) noexcept;
  static void on_left(mpi::Rank& from, mpi::Departure way, bool elsewhere, MPI_Count bytes) noexcept;
  static void on_sent(mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count bytes) noexcept;
  static void on_received(mpi::Rank& to, const mpi::MatchKey& key, MPI_Count bytes) noexcept;

  const bool tracing_;
  std::atomic<bool> stopped_{false};  // relaxed: stop() waits
  std::uint64_t first_tick_ = 0;
  std::uint64_t last_tick_ = 0;
  std::vector<std::atomic<RankRecord*>>
      ranks_;  // room for all there may ever be. Release: the record is complete
  std::atomic<std::size_t> rank_count_{0};
  std::vector<WorkerRecord> workers_;
  SpinLock others_lock_;
  EventRing others_;
  std::atomic<std::uint64_t> foreign_calls_{0};
};

}  // namespace tmpi::observe
