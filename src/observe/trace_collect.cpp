#include "observe/trace_collect.hpp"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "observe/functions.hpp"
#include "observe/trace.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {
namespace {

constexpr std::size_t kEventsOfPiece = 4096;

std::uint64_t nanoseconds(std::uint64_t ticks) {
  return static_cast<std::uint64_t>(timers::seconds(ticks) * 1e9);
}

class TraceCollector {
 public:
  TraceCollector(const Recording& recording, const JobDescription& job, CallSites& sites,
                 const std::function<void(std::string_view)>& take)
      : recording_(recording), job_(job), sites_(sites), take_(take) {}

  void collect() {
    piece_.reserve(kEventsOfPiece);
    describe();
    for (std::size_t i = 0; i < recording_.workers().size(); ++i) {
      const WorkerRecord& worker = recording_.workers()[i];
      part_.workers.push_back(begin_track(worker.ring));
      part_.workers.back().name = i < job_.workers.size() ? job_.workers[i] : fmt::format("worker {}", i);
      add_present_stretch(worker);
      end_track();
    }
    part_.others = begin_track(recording_.other_threads());
    for (std::size_t local = 0; local < recording_.rank_count(); ++local) add_unfinished_call(local);
    end_track();
    for (std::size_t i = 0; i < sites_.count(); ++i) part_.sites.push_back(sites_[i].label());
    take_(pack_trace_end(part_, counts_));
  }

 private:
  void describe() {
    part_.node = job_.node;
    part_.program = job_.program;
    part_.host = job_.host;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> part_.machine;  // hosts of one name may be several
    part_.ended_early = job_.ended_early;
    part_.origin = timers::wtime_at(recording_.first_tick());
    part_.length = at(recording_.last_tick());
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    part_.wall = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec -
                 static_cast<std::int64_t>(at(timers::now_ticks()));
    part_.foreign_calls = recording_.foreign_calls();
    for (std::size_t local = 0; local < recording_.rank_count(); ++local)
      part_.ranks.push_back(recording_.rank(local).world_rank);
  }

  std::uint64_t at(std::uint64_t tick) const {
    return tick < recording_.first_tick() ? 0 : nanoseconds(tick - recording_.first_tick());
  }

  TraceTrack begin_track(const EventRing& ring) {
    counts_.push_back(0);
    TraceTrack track;
    track.dropped = ring.dropped();
    track.bytes_needed = ring.written() * sizeof(Event);
    track.complete_since = ring.dropped() == 0 ? 0 : at(ring.complete_since());
    track.exact = ring.dropped_messages().exact();
    ring.dropped_messages().for_each(
        [&](const MessageTally::Count& count) { track.forgotten.push_back(count); });
    ring.for_each([&](const Event& event) { add(event); });
    return track;
  }
  void end_track() { flush(); }

  /// Of the recording: times in ticks, and the address of the call.
  void add(Event event) {
    if (event.kind == EventKind::kCall || event.kind == EventKind::kUnfinishedCall) {
      event.number = nanoseconds(event.number);
      event.address = sites_.at(event.address);
      if (part_.functions.size() <= event.function) part_.functions.resize(event.function + std::size_t{1});
      if (std::string& name = part_.functions[event.function]; name.empty())
        name = function_name(event.function);
    }
    event.begin = at(event.begin);
    event.end = std::max(at(event.end), event.begin);
    piece_.push_back(event);
    ++counts_.back();
    if (piece_.size() == kEventsOfPiece) flush();
  }

  void flush() {
    if (!piece_.empty()) take_({reinterpret_cast<const char*>(piece_.data()), piece_.size() * sizeof(Event)});
    piece_.clear();
  }

  void add_present_stretch(const WorkerRecord& worker) {
    if (worker.task == nullptr) return;
    Event event;
    event.begin = worker.since;
    event.end = recording_.last_tick();
    event.number = static_cast<std::uint64_t>(worker.ready);
    event.rank = static_cast<const mpi::Rank*>(worker.task->owner)->world_rank;
    add(event);
  }

  void add_unfinished_call(std::size_t local) {
    const RankRecord& rank = recording_.rank(local);
    if (rank.open == 0) return;
    Event event;
    event.kind = EventKind::kUnfinishedCall;
    event.begin = rank.call_begin;
    event.end = recording_.last_tick();
    event.address = rank.call_address;
    const std::uint64_t left = mpi::value_of(rank.figures->left);
    event.number = rank.waited() - rank.call_waited + (left == 0 ? 0 : event.end - std::min(left, event.end));
    event.rank = rank.world_rank;
    event.function = rank.call_function;
    add(event);
  }

  const Recording& recording_;
  const JobDescription& job_;
  CallSites& sites_;
  const std::function<void(std::string_view)>& take_;
  TracePart part_;
  std::vector<std::uint64_t> counts_;  // of events, by track
  std::vector<Event> piece_;
};

}  // namespace

void collect_trace(const Recording& recording, const JobDescription& job, CallSites& sites,
                   const std::function<void(std::string_view piece)>& take) {
  TraceCollector(recording, job, sites, take).collect();
}

}  // namespace tmpi::observe
