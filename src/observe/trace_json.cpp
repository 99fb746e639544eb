#include "observe/trace_writer.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "base/append.hpp"
#include "mpi/comm/context.hpp"
#include "observe/functions.hpp"
#include "observe/messages.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
constexpr int kCoresProcess = 1;  // "processes" of the file: groups of tracks
constexpr int kRanksProcess = 2;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out;
}

std::string communicator(std::uint64_t context) {
  context = mpi::base_of(context);
  if (context == mpi::kWorldContext) return "MPI_COMM_WORLD";
  if (context == mpi::kSelfContext) return "MPI_COMM_SELF";
  return fmt::format("{:#x}", context);
}

std::string tag_name(int tag) {
  return tag == MPI_ANY_TAG ? "\"MPI_ANY_TAG\"" : fmt::format("{}", tag);
}

std::string peer_name(int peer) {
  if (peer == MPI_ANY_SOURCE) return "\"MPI_ANY_SOURCE\"";
  if (peer == MPI_PROC_NULL) return "\"MPI_PROC_NULL\"";
  if (peer == MPI_ROOT) return "\"MPI_ROOT\"";
  return fmt::format("{}", peer);
}

/// What a rank was in, to find where an arrow ends.
struct Interval {
  std::uint64_t begin, end;
};

class TraceWriter {
 public:
  TraceWriter(std::FILE* file, const Recording& recording, const JobDescription& job, CallSites& sites)
      : file_(file), recording_(recording), job_(job), sites_(sites), calls_(recording.rank_count()) {}

  Result<TraceSummary> write() {
    print("{{\"traceEvents\":[");
    names();
    for (std::size_t i = 0; i < recording_.workers().size(); ++i) worker(i);
    for (std::size_t local = 0; local < recording_.rank_count(); ++local) unfinished_call(local);
    messages();
    ending();
    flush();
    if (!failed_ && std::fflush(file_) != 0) fail();
    if (failed_) return Failure{fmt::format("{}", strerror(error_))};
    return summary_;
  }

 private:
  // ---- Output ----

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    append(buffer_, format, std::forward<Arguments>(arguments)...);
    if (buffer_.size() >= kBufferSize) flush();
  }
  /// The beginning of an event; the comma belongs to the one before.
  void next() {
    print("{}", first_ ? "\n" : ",\n");
    first_ = false;
  }
  void flush() {
    if (!failed_ && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail();
    buffer_.clear();
  }
  void fail() {
    error_ = errno;
    failed_ = true;
  }

  // ---- Time and tracks ----

  /// Whole nanoseconds, so that what touches in ticks touches in the file.
  std::int64_t nanoseconds(std::uint64_t tick) const {
    if (tick < recording_.first_tick()) return 0;
    return static_cast<std::int64_t>(timers::seconds(tick - recording_.first_tick()) * 1e9);
  }
  static std::string microseconds(std::int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }
  std::string at(std::uint64_t tick) const { return microseconds(nanoseconds(tick)); }
  std::string from_to(std::uint64_t begin, std::uint64_t end) const {
    const std::int64_t start = nanoseconds(begin);
    return fmt::format("\"ts\":{},\"dur\":{}", microseconds(start),
                       microseconds(std::max<std::int64_t>(nanoseconds(end) - start, 0)));
  }
  /// Track numbers are unique in the whole file; 0 means something to viewers.
  static int track_of_rank(int rank) { return rank + 1; }
  int track_of_worker(std::size_t worker) const { return 1'000'001 + static_cast<int>(worker); }
  int rank_of(std::size_t local) const { return recording_.rank(local).world_rank; }
  bool local(int rank, std::size_t& index) const {
    const mpi::Rank* const there = mpi::job()->local(rank);
    index = there != nullptr ? static_cast<std::size_t>(there->local_index) : calls_.size();
    return index < calls_.size();
  }

  void name(const char* what, int process, int track, std::string_view text, int order) {
    next();
    print("{{\"ph\":\"M\",\"name\":\"{}_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what,
          process, track, escaped(text));
    next();
    print("{{\"ph\":\"M\",\"name\":\"{}_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}",
          what, process, track, order);
  }

  void names() {
    name("process", kCoresProcess, 0, fmt::format("cores of {}", job_.host), 1);
    name("process", kRanksProcess, 0, fmt::format("ranks of {}", job_.program), 2);
    for (std::size_t i = 0; i < recording_.workers().size(); ++i) {
      name("thread", kCoresProcess, track_of_worker(i),
           i < job_.workers.size() ? job_.workers[i] : fmt::format("worker {}", i), static_cast<int>(i));
    }
    for (std::size_t local = 0; local < recording_.rank_count(); ++local) {
      const int rank = rank_of(local);
      name("thread", kRanksProcess, track_of_rank(rank), fmt::format("rank {}", rank), rank);
    }
  }

  // ---- Events ----

  void worker(std::size_t index) {
    const WorkerRecord& worker = recording_.workers()[index];
    worker.ring.for_each([&](const Event& event) {
      if (event.kind == EventKind::kStretch) stretch(index, event);
      if (event.kind == EventKind::kCall) call(event, static_cast<int>(index), false);
    });
    if (const sched::Task* task = worker.task) {
      Event event;
      event.begin = worker.since;
      event.end = recording_.last_tick();
      event.number = static_cast<std::uint64_t>(worker.ready);
      event.rank = static_cast<const mpi::Rank*>(task->owner)->world_rank;
      stretch(index, event);
    }
    last_ready_ = -1;
    summary_.dropped += worker.ring.dropped();
    summary_.bytes_per_worker_needed =
        std::max<std::uint64_t>(summary_.bytes_per_worker_needed, worker.ring.written() * sizeof(Event));
  }

  void stretch(std::size_t worker, const Event& event) {
    ++summary_.events;
    next();
    print(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},{},\"name\":\"rank "
        "{}\",\"cat\":\"run\",\"args\":{{\"rank\":{},\"worker\":{}}}}}",
        kCoresProcess, track_of_worker(worker), from_to(event.begin, event.end), event.rank, event.rank,
        worker);
    const auto ready = static_cast<std::int64_t>(event.number);
    if (ready != last_ready_)
      counter(fmt::format("ready ranks of worker {}", worker), "ranks", event.begin, ready);
    last_ready_ = ready;
  }

  void counter(std::string_view name, const char* unit, std::uint64_t tick, std::int64_t value) {
    next();
    print("{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}", kCoresProcess,
          at(tick), name, unit, value);
  }

  // `worker`: where it has ended; -1: not known.
  void call(const Event& event, int worker, bool unfinished) {
    ++summary_.events;
    std::size_t index = 0;
    if (local(event.rank, index)) calls_[index].push_back({event.begin, event.end});
    next();
    print("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},{},\"name\":\"{}\",\"cat\":\"mpi\",\"args\":{{\"at\":\"{}\"",
          kRanksProcess, track_of_rank(event.rank), from_to(event.begin, event.end),
          function_name(event.function), escaped(sites_[sites_.at(event.address)].label()));
    if (event.peer != Event::kNobody)
      print(",\"{}\":{}", event.rooted ? "root" : "peer", peer_name(event.peer));
    if (event.tag != Event::kNobody) print(",\"tag\":{}", tag_name(event.tag));
    if (event.context != 0) print(",\"comm\":\"{}\"", communicator(event.context));
    if (event.bytes != 0) print(",\"bytes\":{}", event.bytes);
    if (worker >= 0) print(",\"worker\":{}", worker);
    print(",\"waiting_us\":{:.3f}", timers::seconds(event.number) * 1e6);
    if (unfinished) print(",\"unfinished\":true");
    print("}}}}");
  }

  void unfinished_call(std::size_t local) {
    const RankRecord& rank = recording_.rank(local);
    if (rank.open == 0) return;
    Event event;
    event.begin = rank.call_begin;
    event.end = recording_.last_tick();
    event.address = rank.call_address;
    const std::uint64_t left = mpi::value_of(rank.figures->left);
    event.number = rank.waited() - rank.call_waited + (left == 0 ? 0 : event.end - std::min(left, event.end));
    event.rank = rank_of(local);
    event.function = rank.call_function;
    call(event, -1, true);
  }

  // ---- Messages ----

  /// An arrow begins and ends at slices. A message may come while the receiver computes: then a mark of no
  /// length stands on its track.
  void end_of_arrow(int rank, std::uint64_t tick, const char* what, int other, std::int64_t bytes) {
    std::size_t index = 0;
    if (!local(rank, index)) return;
    const auto& calls = calls_[index];
    const auto after = std::ranges::upper_bound(calls, tick, {}, &Interval::begin);
    if (after != calls.begin() && std::prev(after)->end >= tick) return;
    next();
    print(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":0,\"name\":\"message {} "
        "{}\",\"cat\":\"message\","
        "\"args\":{{\"bytes\":{}}}}}",
        kRanksProcess, track_of_rank(rank), at(tick), what, other, bytes);
  }

  void arrow(const TracedMessage& message) {
    const std::uint64_t id = ++summary_.messages;
    end_of_arrow(message.from, message.sent, "to", message.to, message.bytes);
    end_of_arrow(message.to, message.received, "from", message.from, message.bytes);
    next();
    print(
        "{{\"ph\":\"s\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"message\",\"cat\":\"message\","
        "\"args\":{{\"from\":{},\"to\":{},\"tag\":{},\"bytes\":{},\"comm\":\"{}\"{}}}}}",
        id, kRanksProcess, track_of_rank(message.from), at(message.sent), message.from, message.to,
        message.tag, message.bytes, communicator(message.context),
        (message.context & mpi::kCollective) != 0 ? ",\"collective\":true" : "");
    next();
    print(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"message\","
        "\"cat\":\"message\"}}",
        id, kRanksProcess, track_of_rank(message.to), at(message.received));
  }

  void messages() {
    std::vector<const EventRing*> rings;
    for (const WorkerRecord& worker : recording_.workers()) rings.push_back(&worker.ring);
    rings.push_back(&recording_.other_threads());
    summary_.dropped += recording_.other_threads().dropped();
    const TracedMessages messages = pair_messages(rings);
    summary_.unpaired = messages.unpaired;
    keep_outermost_calls();
    for (const TracedMessage& message : messages.paired) arrow(message);
    bytes_in_flight(messages.paired);
  }

  void keep_outermost_calls() {
    for (auto& calls : calls_) {
      std::ranges::sort(calls, {}, &Interval::begin);
      std::vector<Interval> outermost;
      for (const Interval& call : calls) {
        if (outermost.empty() || call.begin > outermost.back().end) outermost.push_back(call);
      }
      calls = std::move(outermost);
    }
  }

  void bytes_in_flight(const std::vector<TracedMessage>& messages) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
    for (const TracedMessage& message : messages) {
      changes.emplace_back(message.sent, message.bytes);
      changes.emplace_back(message.received, -message.bytes);
    }
    std::ranges::sort(changes, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::int64_t bytes = 0;
    for (const auto& [tick, change] : changes) {
      bytes += change;
      counter("bytes in flight", "bytes", tick, bytes);
    }
  }

  void ending() {
    const double origin = timers::wtime_at(recording_.first_tick());
    print("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{{\"program\":\"{}\",\"host\":\"{}\",",
          escaped(job_.program), escaped(job_.host));
    print("\"clock\":\"ts / 1e6 + origin = MPI_Wtime()\",\"origin\":{:.9f},", origin);
    print(
        "\"dropped_events\":{},\"messages\":{},\"unpaired_messages\":{},\"unrecorded_calls\":{},\"ended_"
        "early\":{}}}}}\n",
        summary_.dropped, summary_.messages, summary_.unpaired, recording_.foreign_calls(), job_.ended_early);
  }

  std::FILE* file_;
  const Recording& recording_;
  const JobDescription& job_;
  CallSites& sites_;
  std::vector<std::vector<Interval>> calls_;  // of each rank
  std::int64_t last_ready_ = -1;              // in the present worker's counter
  std::string buffer_;
  bool first_ = true;
  bool failed_ = false;
  int error_ = 0;
  TraceSummary summary_;
};

}  // namespace

Result<TraceSummary> write_trace(std::FILE* file, const Recording& recording, const JobDescription& job,
                                 CallSites& sites) {
  return TraceWriter(file, recording, job, sites).write();
}

}  // namespace tmpi::observe
