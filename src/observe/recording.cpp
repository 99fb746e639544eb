#include "observe/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "mpi/p2p/observer.hpp"
#include "mpi/tool/activity.hpp"
#include "mpi/tool/traffic.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {
namespace {

constexpr useconds_t kMomentToFinish = 5000;  // microseconds; an event takes some 50 ns

Recording* the_recording = nullptr;  // written before any rank runs

const mpi::Rank& owner(const sched::Task& task) noexcept {
  return *static_cast<const mpi::Rank*>(task.owner);
}

}  // namespace

Recording* Recording::instance() noexcept {
  return the_recording;
}

Recording::Recording(sched::Scheduler& scheduler, const RecordingOptions& options)
    : tracing_(options.trace),
      ranks_(static_cast<std::size_t>(scheduler.tasks() + sched::Scheduler::kMostAdded)),
      workers_(static_cast<std::size_t>(scheduler.workers())) {}

bool Recording::admit(const sched::Scheduler& scheduler) noexcept {
  const auto wanted = std::min(static_cast<std::size_t>(scheduler.tasks()), ranks_.size());
  for (std::size_t i = rank_count(); i < wanted; ++i) {
    auto* const record = new (std::nothrow) RankRecord;  // for good: the process ends with the recording
    if (record == nullptr) return false;
    const mpi::Rank& rank = owner(scheduler.task(static_cast<int>(i)));
    record->world_rank = rank.world_rank;
    record->figures = &rank.figures;
    ranks_[i].store(record, std::memory_order_release);
    rank_count_.store(i + 1, std::memory_order_release);
  }
  return true;
}

Result<void> Recording::open_rings(std::size_t bytes) {
  for (WorkerRecord& worker : workers_) {
    if (Result<void> ok = worker.ring.open(bytes); !ok) return ok;
  }
  return others_.open(bytes);
}

Result<void> Recording::begin(sched::Scheduler& scheduler, const RecordingOptions& options) {
  // Lives as long as the process: ranks may be anywhere when it ends.
  the_recording = new Recording(scheduler, options);
  Recording& recording = *the_recording;
  if (!recording.admit(scheduler)) return Failure{"no memory for what is recorded of the ranks"};
  if (options.trace) {
    if (Result<void> ok = recording.open_rings(options.ring_bytes); !ok) return ok;
    static const mpi::MessageObserver observer{&on_sent, &on_received};
    mpi::observe_messages(observer);
    scheduler.observe_switches(&on_switch);
  }
  mpi::tool::count_messages();
  recording.first_tick_ = mpi::tool::account_switches();
  for (WorkerRecord& worker : recording.workers_) worker.since = recording.first_tick_;
  if (options.profile) {
    static const mpi::MessageObserver tally{.sent = &on_counted, .left = &on_left};
    mpi::observe_messages(tally);
    // After the account of switches: what a rank has waited is known then when it goes on.
    scheduler.observe_switches(&on_profiled_switch);
  }
  return {};
}

void Recording::stop() noexcept {
  if (stopped_.exchange(true, std::memory_order_seq_cst)) return;
  last_tick_ = timers::now_ticks();
  mpi::tool::freeze_activity();
  usleep(kMomentToFinish);
}

RankRecord* Recording::own(const sched::Task& task) noexcept {
  // Helper fibers run for a rank beside its own flow of control: they are busy time of the worker, not of the
  // rank.
  return owner(task).task == &task ? ranks_[task.id].load(std::memory_order_acquire) : nullptr;
}

RankRecord* Recording::calling_rank() noexcept {
  const sched::Task* task = sched::current();
  RankRecord* rank = task == nullptr || task->owner == nullptr ? nullptr : own(*task);
  if (rank == nullptr) [[unlikely]] {
    foreign_calls_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return rank->paused || stopped() ? nullptr : rank;
}

void Recording::call_comes_from(mpi::Caller site) noexcept {
  const sched::Task* task = sched::current();
  RankRecord* rank = task == nullptr || task->owner == nullptr ? nullptr : own(*task);
  if (rank != nullptr) rank->comes_from = site;
}

void Recording::pause(bool pause) noexcept {
  const sched::Task* task = sched::current();
  RankRecord* rank = task == nullptr || task->owner == nullptr ? nullptr : own(*task);
  if (rank == nullptr || rank->paused == pause || rank->open > 0) return;
  const std::uint64_t now = timers::now_ticks();
  if (pause) {
    rank->pause_begin = now;
    rank->pause_waited = rank->waited();
  } else {
    rank->paused_wall += now - rank->pause_begin;
    rank->paused_waited += rank->waited() - rank->pause_waited;
  }
  rank->paused = pause;
}

void Recording::push_message(const Event& event) noexcept {
  // A rank's thread may be inside the worker (docs/design/threads.md), while the worker's own writes to its ring.
  const sched::Task* task = sched::current();
  if (task == nullptr || task->kind != sched::TaskKind::kThread) [[likely]] {
    if (const int worker = sched::current_worker(); worker >= 0) {
      workers_[static_cast<std::size_t>(worker)].ring.push(event);
      return;
    }
  }
  others_lock_.lock();
  others_.push(event);
  others_lock_.unlock();
}

void Recording::on_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept {
  Recording& recording = *the_recording;
  if (recording.stopped()) return;
  WorkerRecord& worker = recording.workers_[static_cast<std::size_t>(sched::current_worker())];
  if (from != nullptr) {
    Event stretch;
    stretch.begin = worker.since;
    stretch.end = now;
    stretch.number = static_cast<std::uint64_t>(worker.ready);
    stretch.rank = owner(*from).world_rank;
    stretch.kind = EventKind::kStretch;
    worker.ring.push(stretch);
  }
  if (to != nullptr) worker.ready = sched::ready_tasks();
  worker.task = to;
  worker.since = now;
}

void Recording::on_profiled_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept {
  Recording& recording = *the_recording;
  if (recording.stopped()) return;
  WorkerRecord& worker = recording.workers_[static_cast<std::size_t>(sched::current_worker())];
  if (from != nullptr && worker.switched != 0) {
    // What helper fibers do for a rank is no computing.
    const std::uint64_t length = now - std::min(now, worker.switched);
    const std::uint64_t inside =
        worker.running != nullptr ? worker.running->inside(now) - worker.inside : length;
    const std::uint64_t begin = worker.switched - std::min(worker.switched, recording.first_tick_);
    worker.bins.add(begin, begin + length, inside);
  }
  worker.running = to != nullptr ? recording.own(*to) : nullptr;
  worker.switched = to != nullptr ? now : 0;
  if (worker.running != nullptr) worker.inside = worker.running->inside(now);
}

void Recording::on_counted(mpi::Rank& from, int to, const mpi::MatchKey&, MPI_Count bytes) noexcept {
  Recording& recording = *the_recording;
  if (recording.stopped()) return;
  RankRecord* const record = recording.own(*from.task);
  if (record != nullptr) record->sent.sent(to, static_cast<std::uint64_t>(bytes));
}

void Recording::on_left(mpi::Rank& from, mpi::Departure way, bool elsewhere, MPI_Count bytes) noexcept {
  Recording& recording = *the_recording;
  if (recording.stopped()) return;
  RankRecord* const record = recording.own(*from.task);
  if (record != nullptr) record->sent.left(way, elsewhere, static_cast<std::uint64_t>(bytes));
}

void Recording::on_sent(mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count bytes) noexcept {
  if (the_recording->stopped()) return;
  Event sent;
  sent.begin = timers::now_ticks();
  sent.context = key.context;
  sent.number = static_cast<std::uint64_t>(from.world_rank);
  sent.bytes = bytes;
  sent.rank = key.source;
  sent.peer = to;
  sent.tag = key.tag;
  sent.kind = EventKind::kSent;
  the_recording->push_message(sent);
}

void Recording::on_received(mpi::Rank& to, const mpi::MatchKey& key, MPI_Count bytes) noexcept {
  if (the_recording->stopped()) return;
  Event received;
  received.begin = timers::now_ticks();
  received.context = key.context;
  received.bytes = bytes;
  received.rank = key.source;
  received.peer = to.world_rank;
  received.tag = key.tag;
  received.kind = EventKind::kReceived;
  the_recording->push_message(received);
}

}  // namespace tmpi::observe
