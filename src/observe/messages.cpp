#include "observe/messages.hpp"

#include <algorithm>
#include <map>

namespace tmpi::observe {
namespace {

MessageKey key_of(const Event& event) {
  return {event.context, event.rank, event.peer, event.tag};
}

struct Place {
  const Event* event;
  std::uint32_t part;
  const Event& operator*() const { return *event; }
};

/// The events of one kind, those with equal keys, which are of one part, together and in order of time.
using Events = std::vector<Place>;

void sort(Events& events) {
  std::ranges::stable_sort(events, [](const Place& a, const Place& b) {
    const MessageKey x = key_of(*a), y = key_of(*b);
    return x == y ? a.event->begin < b.event->begin : x < y;
  });
}

struct Dropped {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

TracedMessage joined(const Place& sent, const Place& received) {
  return {static_cast<int>(sent.event->number),
          sent.event->peer,
          sent.event->tag,
          sent.event->context,
          sent.event->bytes,
          sent.event->begin,
          received.event->begin,
          sent.part,
          received.part};
}

/// The end of the run of events with the key of events[from].
std::size_t end_of_run(const Events& events, std::size_t from) {
  std::size_t end = from;
  while (end < events.size() && key_of(*events[end]) == key_of(*events[from])) ++end;
  return end;
}

class Pairing {
 public:
  TracedMessages pair(std::span<const TracePart> parts) {
    for (std::uint32_t i = 0; i < parts.size(); ++i) gather(parts[i], i);
    sort(sent_);
    sort(received_);
    std::size_t r = 0;
    for (std::size_t s = 0; s < sent_.size();) {
      const MessageKey key = key_of(*sent_[s]);
      for (; r < received_.size() && key_of(*received_[r]) < key; ++r) ++result_.unpaired;
      const bool both = r < received_.size() && key_of(*received_[r]) == key;
      const std::size_t sent_end = end_of_run(sent_, s);
      const std::size_t received_end = both ? end_of_run(received_, r) : r;
      pair_run(key, s, sent_end, r, received_end);
      s = sent_end;
      r = received_end;
    }
    result_.unpaired += received_.size() - r;
    return std::move(result_);
  }

 private:
  /// What a rank has sent, or received, is in one part, on the tracks of several workers if it has moved.
  void gather(const TracePart& part, std::uint32_t number) {
    std::uint64_t complete_since = 0;  // from then on all tracks are complete
    bool exact = true;
    for_each_track(part, [&](const TraceTrack& track) {
      complete_since = std::max(complete_since, track.complete_since);
      exact &= track.exact;
      for (const MessageTally::Count& count : track.forgotten) {
        dropped_[count.key].sent += count.sent;
        dropped_[count.key].received += count.received;
      }
    });
    result_.known &= exact;
    for_each_track(part, [&](const TraceTrack& track) {
      for (const Event& event : track.events) {
        const bool is_sent = event.kind == EventKind::kSent;
        if (!is_sent && event.kind != EventKind::kReceived) continue;
        if (exact && (complete_since == 0 || event.begin > complete_since)) {
          (is_sent ? sent_ : received_).push_back({&event, number});
          continue;
        }
        // Another track may have dropped its neighbours: it counts as one of them.
        Dropped& dropped = dropped_[key_of(event)];
        ++(is_sent ? dropped.sent : dropped.received);
        ++result_.unpaired;
      }
    });
  }

  template <class Visit>
  static void for_each_track(const TracePart& part, Visit visit) {
    for (const TraceTrack& track : part.workers) visit(track);
    visit(part.others);
  }

  /// The n-th sent is the n-th received; those that are left may begin at different n.
  void pair_run(const MessageKey& key, std::size_t s, std::size_t sent_end, std::size_t r,
                std::size_t received_end) {
    const auto before = dropped_.find(key);
    const Dropped first = before == dropped_.end() ? Dropped{} : before->second;
    std::uint64_t n = first.sent;
    std::uint64_t m = first.received;
    while (s < sent_end && r < received_end) {
      if (n == m) {
        result_.paired.push_back(joined(sent_[s], received_[r]));
      } else {
        ++result_.unpaired;
      }
      const bool take_sent = n <= m;
      const bool take_received = m <= n;
      s += take_sent;
      n += take_sent;
      r += take_received;
      m += take_received;
    }
    result_.unpaired += sent_end - s + (received_end - r);
  }

  TracedMessages result_;
  std::map<MessageKey, Dropped> dropped_;
  Events sent_, received_;
};

}  // namespace

TracedMessages pair_messages(std::span<const TracePart> parts) {
  return Pairing().pair(parts);
}

}  // namespace tmpi::observe
