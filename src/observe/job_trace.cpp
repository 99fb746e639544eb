#include "observe/job_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "mpi/comm/context.hpp"

namespace tmpi::observe {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Parts of one machine have one clock; machines are numbered in the order of their first part.
class Machines {
 public:
  explicit Machines(const std::vector<TracePart>& parts) {
    std::map<std::string, std::size_t> numbers;
    for (const TracePart& part : parts) {
      const auto [known, is_new] = numbers.try_emplace(part.machine, first_.size());
      if (is_new) first_.push_back(&part);
      of_.push_back(known->second);
    }
  }
  std::size_t count() const { return first_.size(); }
  std::size_t of(std::size_t part) const { return of_[part]; }
  const TracePart& first(std::size_t machine) const { return *first_[machine]; }

 private:
  std::vector<std::size_t> of_;
  std::vector<const TracePart*> first_;
};

class Alignment {
 public:
  explicit Alignment(const JobTrace& trace) : trace_(trace), machines_(trace.parts) {
    for (std::size_t i = 0; i < trace.parts.size(); ++i) shifts_.push_back(by_clocks(i));
  }

  std::vector<std::int64_t> shifts() {
    if (machines_.count() > 1) by_messages();
    const std::int64_t earliest = std::ranges::min(shifts_);
    for (std::int64_t& shift : shifts_) shift -= earliest;
    return std::move(shifts_);
  }

 private:
  using Pair = std::pair<std::size_t, std::size_t>;  // of machines: from, to

  std::int64_t by_clocks(std::size_t number) const {
    const TracePart &part = trace_.parts[number], &first = machines_.first(machines_.of(number));
    return first.wall - trace_.parts.front().wall +
           static_cast<std::int64_t>((part.origin - first.origin) * 1e9);
  }

  /// From the first machine on, each time to the one whose clock is known best.
  void by_messages() {
    find_fastest();
    std::vector<bool> done(machines_.count());
    done[0] = true;
    for (;;) {
      Pair best;
      std::int64_t shortest = kNever;
      for (const auto& [pair, there] : fastest_) {
        if (!done[pair.first] || done[pair.second]) continue;
        const std::int64_t trip = round_trip(pair);
        if (trip < shortest) best = pair, shortest = trip;
      }
      if (shortest == kNever) break;
      done[best.second] = true;
      move(best.second, (fastest({best.second, best.first}) - fastest(best)) / 2);
    }
    // Those from which nothing came, or to which nothing went: no message arrives before it was sent.
    for (const auto& [pair, there] : fastest_) {
      if (!done[pair.second] && there < 0) move(pair.second, -there);
    }
  }

  void find_fastest() {
    for (const TracedMessage& message : trace_.messages.paired) {
      const Pair pair{machines_.of(message.sent_in), machines_.of(message.received_in)};
      if (pair.first == pair.second) continue;
      const std::int64_t took = static_cast<std::int64_t>(message.received) + shifts_[message.received_in] -
                                static_cast<std::int64_t>(message.sent) - shifts_[message.sent_in];
      const auto [known, is_new] = fastest_.try_emplace(pair, took);
      known->second = std::min(known->second, took);
    }
  }
  std::int64_t fastest(Pair pair) const {
    const auto found = fastest_.find(pair);
    return found == fastest_.end() ? kNever : found->second;
  }
  std::int64_t round_trip(Pair there) const {
    const std::int64_t back = fastest({there.second, there.first});
    return back == kNever ? kNever : fastest(there) + back;
  }

  void move(std::size_t machine, std::int64_t by) {
    for (std::size_t part = 0; part < shifts_.size(); ++part) {
      if (machines_.of(part) == machine) shifts_[part] += by;
    }
    for (auto& [pair, took] : fastest_) {
      if (pair.first == machine) took -= by;
      if (pair.second == machine) took += by;
    }
  }

  const JobTrace& trace_;
  const Machines machines_;
  std::vector<std::int64_t> shifts_;
  std::map<Pair, std::int64_t> fastest_;  // what the fastest message took, as the clocks have it
};

TraceSummary summary_of(const std::vector<TracePart>& parts) {
  TraceSummary summary;
  const auto add = [&](const TraceTrack& track) {
    summary.dropped += track.dropped;
    for (const Event& event : track.events)
      summary.events += event.kind != EventKind::kSent && event.kind != EventKind::kReceived ? 1 : 0;
  };
  for (const TracePart& part : parts) {
    for (const TraceTrack& worker : part.workers) {
      add(worker);
      summary.bytes_per_worker_needed = std::max(summary.bytes_per_worker_needed, worker.bytes_needed);
    }
    add(part.others);
  }
  return summary;
}

}  // namespace

std::uint64_t JobTrace::received(const TracedMessage& message) const {
  return std::max(at(message.received_in, message.received), sent(message));
}

JobTrace join_trace(std::vector<TracePart> parts) {
  JobTrace trace;
  trace.parts = std::move(parts);
  trace.messages = pair_messages(trace.parts);
  trace.shifts = Alignment(trace).shifts();
  trace.summary = summary_of(trace.parts);
  return trace;
}

std::string communicator_name(std::uint64_t context) {
  context = mpi::base_of(context);
  if (context == mpi::kWorldContext) return "MPI_COMM_WORLD";
  if (context == mpi::kSelfContext) return "MPI_COMM_SELF";
  return fmt::format("{:#x}", context);
}

}  // namespace tmpi::observe
