#include "replay/alternatives.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "mpi.h"

namespace tmpi::replay {
namespace {

using Clock = std::map<int, std::uint64_t>;  // by world rank

void merge(Clock& clock, const Clock& other) {
  for (const auto& [rank, time] : other) clock[rank] = std::max(clock[rank], time);
}

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

struct Sent {
  int tag = 0;
  std::uint32_t taken_by = kNobody;  ///< number of the receiver's receive
  bool done = false;                 ///< the clock is known
  Clock clock{};
};

struct Asked {
  ExploredEvent ask;
  std::optional<Taken> taken;
  Sent* message = nullptr;  ///< that it has found
};

/// The messages of one sender to one receiver in one context, in their order.
using Lane =
    std::tuple<std::uint64_t, int, int>;  // context, receiver's world rank, sender's rank in the communicator

/// Who has come to a collective, and with which clocks.
struct Arrivals {
  std::map<int, Clock> members;  ///< by rank in the communicator
};

class Run {
 public:
  explicit Run(const std::map<int, std::vector<ExploredEvent>>& logs) : logs_(logs) {
    for (const auto& [rank, events] : logs_) collect(rank, events);
    for (auto& [rank, asked] : asked_) find_messages(rank, asked);
    follow();
  }
  std::vector<Decision> take_decisions() { return std::move(decisions_); }

 private:
  struct Flow {
    std::size_t next = 0;
    std::size_t sends = 0;
    bool arrived = false;  // at the collective that is next
    Clock clock;
    std::map<std::uint64_t, std::uint64_t> collectives;  // by context: how many it has been to
  };

  void collect(int rank, const std::vector<ExploredEvent>& events) {
    for (const ExploredEvent& event : events) {
      std::vector<Asked>& asked = asked_[rank];
      if (event.kind == ExploredKind::kSend) {
        sent_[Lane{event.context, event.peer, event.source}].push_back({event.tag});
        places_[rank].emplace_back(Lane{event.context, event.peer, event.source},
                                   sent_[Lane{event.context, event.peer, event.source}].size() - 1);
      } else if (event.kind == ExploredKind::kAsk) {
        asked.resize(std::max<std::size_t>(asked.size(), event.number + 1));
        asked[event.number].ask = event;
      } else if (event.kind == ExploredKind::kTake && event.number < asked.size()) {
        asked[event.number].taken = Taken{event.source, event.tag};
      }
    }
  }

  // In the order of posting: so they are matched.
  void find_messages(int rank, std::vector<Asked>& asked) {
    for (Asked& one : asked) {
      if (!one.taken) continue;
      for (Sent& sent : sent_[Lane{one.ask.context, rank, one.taken->source}]) {
        if (sent.taken_by != kNobody || sent.tag != one.taken->tag) continue;
        one.message = &sent;
        if (one.ask.peer != 0) sent.taken_by = one.ask.number;
        break;
      }
    }
  }

  // Each rank as far as it goes, the lowest first, until none goes on.
  void follow() {
    for (const auto& [rank, events] : logs_) flows_[rank];
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& [rank, flow] : flows_) {
        while (flow.next < logs_.at(rank).size() && step(rank, flow)) moved = true;
      }
    }
  }

  bool step(int rank, Flow& flow) {
    const ExploredEvent& event = logs_.at(rank)[flow.next];
    if (event.kind == ExploredKind::kTake) {
      const Asked* asked = event.number < asked_[rank].size() ? &asked_[rank][event.number] : nullptr;
      if (asked != nullptr && asked->message != nullptr) {
        if (!asked->message->done) return false;
        merge(flow.clock, asked->message->clock);
      }
      ++flow.clock[rank];
      if (asked != nullptr && asked->ask.source == MPI_ANY_SOURCE)
        undecided_.push_back({{rank, event.number}, flow.clock[rank], nullptr});
    } else if (event.kind == ExploredKind::kDecide) {
      ++flow.clock[rank];
      undecided_.push_back({{rank, event.number, false}, flow.clock[rank], &event});
    } else if (event.kind == ExploredKind::kCollective) {
      if (!meet(event, flow)) return false;
    } else if (event.kind == ExploredKind::kSend) {
      ++flow.clock[rank];
      const auto& [lane, index] = places_[rank][flow.sends++];
      Sent& sent = sent_[lane][index];
      sent.clock = flow.clock;
      sent.done = true;
    }
    flow.arrived = false;
    ++flow.next;
    return true;
  }

  bool meet(const ExploredEvent& event, Flow& flow) {
    const auto waits = static_cast<Waits>(event.tag);
    Arrivals& here = arrivals_[{event.context, flow.collectives[event.context]}];
    here.members.emplace(event.peer, flow.clock);
    const bool root = event.peer == event.source;
    if (waits == Waits::kAll || (waits == Waits::kToRoot && root)) {
      if (here.members.size() < event.number) return false;
      for (const auto& [member, clock] : here.members) merge(flow.clock, clock);
    } else if (waits == Waits::kFromRoot && !root) {
      const auto from = here.members.find(event.source);
      if (from == here.members.end()) return false;
      merge(flow.clock, from->second);
    }
    ++flow.collectives[event.context];
    return true;
  }

 public:
  // All clocks are known now.
  void decide() {
    for (const auto& [place, done, answer] : undecided_) {
      if (answer != nullptr) {
        decisions_.push_back({place, {answer->source, 0}, other_answers(*answer)});
        continue;
      }
      const Asked& asked = asked_[place.rank][place.number];
      if (!asked.taken) continue;
      Decision decision{place, *asked.taken, {}};
      const auto [context, receiver, any] = Lane{asked.ask.context, place.rank, 0};
      for (auto lane = sent_.lower_bound(Lane{context, receiver, std::numeric_limits<int>::min()});
           lane != sent_.end() && std::get<0>(lane->first) == context && std::get<1>(lane->first) == receiver;
           ++lane) {
        const int source = std::get<2>(lane->first);
        if (source == asked.taken->source) continue;
        if (const Sent* other = first_left(lane->second, asked.ask, place, done))
          decision.others.push_back({source, other->tag});
      }
      decisions_.push_back(std::move(decision));
    }
  }

 private:
  /// The message of a sender that the receive would have taken instead; null: it had sent none.
  static const Sent* first_left(const std::vector<Sent>& lane, const ExploredEvent& ask, const Place& place,
                                std::uint64_t done) {
    for (const Sent& sent : lane) {
      if (sent.taken_by != kNobody && sent.taken_by < place.number) continue;
      if (ask.tag != MPI_ANY_TAG && ask.tag != sent.tag) continue;
      const auto seen = sent.clock.find(place.rank);
      const bool because = seen != sent.clock.end() && seen->second >= done;
      return because ? nullptr : &sent;
    }
    return nullptr;
  }

  /// Whether it could have come out so is known when it is tried: a run stands still for what cannot be.
  static std::vector<Taken> other_answers(const ExploredEvent& answer) {
    std::vector<Taken> others;
    for (int value = 0; value < kSeveral; ++value) {
      if ((answer.context >> value & 1) != 0 && value != answer.source) others.push_back({value, 0});
    }
    return others;
  }

  struct Undecided {
    Place place;
    std::uint64_t done;           ///< the rank's time
    const ExploredEvent* answer;  ///< null: of a receive
  };

  const std::map<int, std::vector<ExploredEvent>>& logs_;
  std::map<Lane, std::vector<Sent>> sent_;
  std::map<int, std::vector<std::pair<Lane, std::size_t>>> places_;  // by sender: where its sends are
  std::map<int, std::vector<Asked>> asked_;
  std::map<int, Flow> flows_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Arrivals> arrivals_;
  std::vector<Undecided> undecided_;
  std::vector<Decision> decisions_;
};

}  // namespace

std::vector<Decision> decisions_of(const std::map<int, std::vector<ExploredEvent>>& logs) {
  Run run(logs);
  run.decide();
  return run.take_decisions();
}

}  // namespace tmpi::replay
