#include "observe/recording.hpp"

#include <unistd.h>

#include "mpi/p2p/observer.hpp"
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
      ranks_(static_cast<std::size_t>(scheduler.tasks())),
      workers_(static_cast<std::size_t>(scheduler.workers())) {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    ranks_[i].world_rank = owner(scheduler.task(static_cast<int>(i))).world_rank;
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
  if (options.trace) {
    if (Result<void> ok = recording.open_rings(options.ring_bytes); !ok) return ok;
    static const mpi::MessageObserver observer{&on_sent, &on_received};
    mpi::observe_messages(observer);
  }
  scheduler.observe_switches(&on_switch);
  recording.first_tick_ = timers::now_ticks();
  for (WorkerRecord& worker : recording.workers_) worker.since = recording.first_tick_;
  return {};
}

void Recording::stop() noexcept {
  if (stopped_.exchange(true, std::memory_order_seq_cst)) return;
  last_tick_ = timers::now_ticks();
  usleep(kMomentToFinish);
}

RankRecord* Recording::own(const sched::Task& task) noexcept {
  // Helper fibers run for a rank beside its own flow of control: they are busy time of the worker, not of the
  // rank.
  return owner(task).task == &task ? &ranks_[task.id] : nullptr;
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
    rank->pause_waited = rank->waited;
  } else {
    rank->paused_wall += now - rank->pause_begin;
    rank->paused_waited += rank->waited - rank->pause_waited;
  }
  rank->paused = pause;
}

void Recording::push_message(const Event& event) noexcept {
  // A rank's thread may be inside the worker (docs/threads.md), while the worker's own writes to its ring.
  const sched::Task* task = sched::current();
  if (task == nullptr || !task->is_thread) [[likely]] {
    if (const int worker = sched::current_worker(); worker >= 0) {
      workers_[static_cast<std::size_t>(worker)].ring.push(event);
      return;
    }
  }
  others_lock_.lock();
  others_.push(event);
  others_lock_.unlock();
}

void Recording::leave(WorkerRecord& worker, sched::Task& task, std::uint64_t now) noexcept {
  worker.busy += now - worker.since;
  RankRecord* rank = own(task);
  if (rank != nullptr) rank->left = now;
  if (!tracing_) return;
  Event stretch;
  stretch.begin = worker.since;
  stretch.end = now;
  stretch.number = static_cast<std::uint64_t>(worker.ready);
  stretch.rank = owner(task).world_rank;
  stretch.kind = EventKind::kStretch;
  worker.ring.push(stretch);
}

void Recording::arrive(WorkerRecord& worker, sched::Task& task, std::uint64_t now,
                       std::uint64_t idle) noexcept {
  ++worker.switches;
  if (tracing_) worker.ready = sched::ready_tasks();
  RankRecord* rank = own(task);
  if (rank == nullptr) return;
  if (rank->started == 0) {
    rank->started = now;
  } else {
    rank->waited += now - rank->left;
    rank->idled += idle;
  }
  rank->left = 0;
}

void Recording::on_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept {
  Recording& recording = *the_recording;
  if (recording.stopped()) return;
  WorkerRecord& worker = recording.workers_[static_cast<std::size_t>(sched::current_worker())];
  std::uint64_t idle = 0;
  if (from != nullptr) {
    recording.leave(worker, *from, now);
  } else {
    idle = now - worker.since;
    worker.idle += idle;
  }
  if (to != nullptr) recording.arrive(worker, *to, now, idle);
  worker.task = to;
  worker.since = now;
}

void Recording::on_sent(const mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count bytes) noexcept {
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

void Recording::on_received(const mpi::Rank& to, const mpi::MatchKey& key, MPI_Count bytes) noexcept {
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
