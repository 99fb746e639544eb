#include "observe/trace_json.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/append.hpp"
#include "mpi/comm/context.hpp"

namespace tmpi::observe {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

// "Processes" of the file are groups of tracks: the cores of each node process, and all ranks.
constexpr int kRanksProcess = 2;
int cores_process(std::size_t part) {
  return part == 0 ? 1 : static_cast<int>(part) + 2;
}

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
  TraceWriter(std::FILE* file, const JobTrace& trace) : file_(file), trace_(trace) {}

  Result<void> write() {
    print("{{\"traceEvents\":[");
    names();
    for (part_ = 0; part_ < trace_.parts.size(); ++part_) {
      const TracePart& part = trace_.parts[part_];
      for (std::size_t i = 0; i < part.workers.size(); ++i) worker(i);
      for (const Event& event : part.others.events) {
        if (event.kind == EventKind::kUnfinishedCall) call(event, -1);
      }
    }
    messages();
    ending();
    flush();
    if (!failed_ && std::fflush(file_) != 0) fail();
    if (failed_) return Failure{fmt::format("{}", strerror(error_))};
    return {};
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

  static std::string microseconds(std::uint64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }
  /// Of the present part.
  std::uint64_t at(std::uint64_t time) const { return trace_.at(part_, time); }
  std::string from_to(const Event& event) const {
    return fmt::format("\"ts\":{},\"dur\":{}", microseconds(at(event.begin)),
                       microseconds(event.end - event.begin));
  }
  /// Track numbers are unique in the whole file; 0 means something to viewers.
  static int track_of_rank(int rank) { return rank + 1; }
  int track_of_worker(std::size_t worker) const {
    return 1'000'001 + first_worker_[part_] + static_cast<int>(worker);
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
    const bool several = trace_.parts.size() > 1;
    int workers = 0;
    for (part_ = 0; part_ < trace_.parts.size(); ++part_) {
      const TracePart& part = trace_.parts[part_];
      first_worker_.push_back(workers);
      const int process = cores_process(part_);
      name("process", process, 0,
           several ? fmt::format("cores of node {} on {}", part.node, part.host)
                   : fmt::format("cores of {}", part.host),
           static_cast<int>(part_) + 1);
      for (std::size_t i = 0; i < part.workers.size(); ++i, ++workers)
        name("thread", process, track_of_worker(i), part.workers[i].name, workers);
      for (const int rank : part.ranks)
        name("thread", kRanksProcess, track_of_rank(rank), fmt::format("rank {}", rank), rank);
    }
    name("process", kRanksProcess, 0, fmt::format("ranks of {}", trace_.program()),
         static_cast<int>(part_) + 1);
  }

  // ---- Events ----

  void worker(std::size_t index) {
    last_ready_ = -1;
    for (const Event& event : trace_.parts[part_].workers[index].events) {
      if (event.kind == EventKind::kStretch) stretch(index, event);
      if (event.kind == EventKind::kCall) call(event, static_cast<int>(index));
    }
  }

  void stretch(std::size_t worker, const Event& event) {
    next();
    print(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},{},\"name\":\"rank "
        "{}\",\"cat\":\"run\",\"args\":{{\"rank\":{},\"worker\":{}}}}}",
        cores_process(part_), track_of_worker(worker), from_to(event), event.rank, event.rank, worker);
    const auto ready = static_cast<std::int64_t>(event.number);
    if (ready != last_ready_)
      counter(cores_process(part_), fmt::format("ready ranks of worker {}", worker), "ranks", at(event.begin),
              ready);
    last_ready_ = ready;
  }

  void counter(int process, std::string_view name, const char* unit, std::uint64_t time, std::int64_t value) {
    next();
    print("{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}", process,
          microseconds(time), name, unit, value);
  }

  // `worker`: where it has ended; -1: not known.
  void call(const Event& event, int worker) {
    const TracePart& part = trace_.parts[part_];
    calls_[event.rank].push_back({at(event.begin), at(event.end)});
    next();
    print("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},{},\"name\":\"{}\",\"cat\":\"mpi\",\"args\":{{\"at\":\"{}\"",
          kRanksProcess, track_of_rank(event.rank), from_to(event), part.functions.at(event.function),
          escaped(part.sites.at(event.address)));
    if (event.peer != Event::kNobody)
      print(",\"{}\":{}", event.rooted ? "root" : "peer", peer_name(event.peer));
    if (event.tag != Event::kNobody) print(",\"tag\":{}", tag_name(event.tag));
    if (event.context != 0) print(",\"comm\":\"{}\"", communicator_name(event.context));
    if (event.bytes != 0) print(",\"bytes\":{}", event.bytes);
    if (worker >= 0) print(",\"worker\":{}", worker);
    print(",\"waiting_us\":{:.3f}", static_cast<double>(event.number) * 1e-3);
    if (event.kind == EventKind::kUnfinishedCall) print(",\"unfinished\":true");
    print("}}}}");
  }

  // ---- Messages ----

  /// An arrow begins and ends at slices. A message may come while the receiver computes: then a mark of no
  /// length stands on its track.
  void end_of_arrow(int rank, std::uint64_t time, const char* what, int other, std::int64_t bytes) {
    const auto& calls = calls_[rank];
    const auto after = std::ranges::upper_bound(calls, time, {}, &Interval::begin);
    if (after != calls.begin() && std::prev(after)->end >= time) return;
    next();
    print(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":0,\"name\":\"message {} "
        "{}\",\"cat\":\"message\","
        "\"args\":{{\"bytes\":{}}}}}",
        kRanksProcess, track_of_rank(rank), microseconds(time), what, other, bytes);
  }

  void arrow(const TracedMessage& message) {
    const std::uint64_t id = ++arrows_, sent = trace_.sent(message), received = trace_.received(message);
    end_of_arrow(message.from, sent, "to", message.to, message.bytes);
    end_of_arrow(message.to, received, "from", message.from, message.bytes);
    next();
    print(
        "{{\"ph\":\"s\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"message\",\"cat\":\"message\","
        "\"args\":{{\"from\":{},\"to\":{},\"tag\":{},\"bytes\":{},\"comm\":\"{}\"{}}}}}",
        id, kRanksProcess, track_of_rank(message.from), microseconds(sent), message.from, message.to,
        message.tag, message.bytes, communicator_name(message.context),
        (message.context & mpi::kCollective) != 0 ? ",\"collective\":true" : "");
    next();
    print(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"message\","
        "\"cat\":\"message\"}}",
        id, kRanksProcess, track_of_rank(message.to), microseconds(received));
  }

  void messages() {
    keep_outermost_calls();
    for (const TracedMessage& message : trace_.messages.paired) arrow(message);
    bytes_in_flight();
  }

  void keep_outermost_calls() {
    for (auto& [rank, calls] : calls_) {
      std::ranges::sort(calls, {}, &Interval::begin);
      std::vector<Interval> outermost;
      for (const Interval& call : calls) {
        if (outermost.empty() || call.begin > outermost.back().end) outermost.push_back(call);
      }
      calls = std::move(outermost);
    }
  }

  void bytes_in_flight() {
    std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
    for (const TracedMessage& message : trace_.messages.paired) {
      changes.emplace_back(trace_.sent(message), message.bytes);
      changes.emplace_back(trace_.received(message), -message.bytes);
    }
    std::ranges::sort(changes, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::int64_t bytes = 0;
    for (const auto& [time, change] : changes) {
      bytes += change;
      counter(kRanksProcess, "bytes in flight", "bytes", time, bytes);
    }
  }

  void ending() {
    std::uint64_t unrecorded = 0;
    bool early = false;
    std::vector<std::string> hosts;
    for (const TracePart& part : trace_.parts) {
      unrecorded += part.foreign_calls;
      early |= part.ended_early;
      const std::string host = escaped(part.host);
      if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
    }
    print("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{{\"program\":\"{}\",\"host\":\"{}\",",
          escaped(trace_.program()), fmt::join(hosts, ", "));
    print("\"clock\":\"ts / 1e6 + origin = MPI_Wtime()\",\"origin\":{:.9f},", trace_.origin());
    print(
        "\"dropped_events\":{},\"messages\":{},\"unpaired_messages\":{},\"unrecorded_calls\":{},\"ended_"
        "early\":{}}}}}\n",
        trace_.summary.dropped, trace_.messages.paired.size(), trace_.messages.unpaired, unrecorded, early);
  }

  std::FILE* file_;
  const JobTrace& trace_;
  std::size_t part_ = 0;                                  // whose events are being written
  std::vector<int> first_worker_;                         // of each part, in the whole job
  std::unordered_map<int, std::vector<Interval>> calls_;  // of each rank
  std::int64_t last_ready_ = -1;                          // in the present worker's counter
  std::uint64_t arrows_ = 0;
  std::string buffer_;
  bool first_ = true;
  bool failed_ = false;
  int error_ = 0;
};

}  // namespace

Result<void> write_trace_json(std::FILE* file, const JobTrace& trace) {
  return TraceWriter(file, trace).write();
}

}  // namespace tmpi::observe
