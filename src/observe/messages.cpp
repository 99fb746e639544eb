#include "observe/messages.hpp"

#include <algorithm>
#include <map>

namespace tmpi::observe {
namespace {

MessageKey key_of(const Event& event) {
  return {event.context, event.rank, event.peer, event.tag};
}

/// The events of one kind, those with equal keys together and in order of time.
using Events = std::vector<const Event*>;

void sort(Events& events) {
  std::ranges::stable_sort(events, [](const Event* a, const Event* b) {
    const MessageKey x = key_of(*a), y = key_of(*b);
    return x == y ? a->begin < b->begin : x < y;
  });
}

struct Dropped {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

TracedMessage joined(const Event& sent, const Event& received) {
  return {static_cast<int>(sent.number),
          sent.peer,
          sent.tag,
          sent.context,
          sent.bytes,
          sent.begin,
          received.begin};
}

/// The end of the run of events with the key of events[from].
std::size_t end_of_run(const Events& events, std::size_t from) {
  std::size_t end = from;
  while (end < events.size() && key_of(*events[end]) == key_of(*events[from])) ++end;
  return end;
}

class Pairing {
 public:
  TracedMessages pair(const std::vector<const EventRing*>& rings) {
    for (const EventRing* ring : rings) count_dropped(*ring);
    for (const EventRing* ring : rings) gather(*ring);
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
  void count_dropped(const EventRing& ring) {
    complete_since_ = std::max(complete_since_, ring.complete_since());
    result_.known &= ring.dropped_messages().exact();
    ring.dropped_messages().for_each([&](const MessageTally::Count& count) {
      dropped_[count.key].sent += count.sent;
      dropped_[count.key].received += count.received;
    });
  }

  void gather(const EventRing& ring) {
    ring.for_each([&](const Event& event) {
      const bool is_sent = event.kind == EventKind::kSent;
      if (!is_sent && event.kind != EventKind::kReceived) return;
      if (result_.known && event.begin > complete_since_) {
        (is_sent ? sent_ : received_).push_back(&event);
        return;
      }
      // Another ring may have dropped its neighbours: it counts as one of them.
      Dropped& dropped = dropped_[key_of(event)];
      ++(is_sent ? dropped.sent : dropped.received);
      ++result_.unpaired;
    });
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
        result_.paired.push_back(joined(*sent_[s], *received_[r]));
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
  std::uint64_t complete_since_ = 0;  // from then on all rings are complete
  Events sent_, received_;
};

}  // namespace

TracedMessages pair_messages(const std::vector<const EventRing*>& rings) {
  return Pairing().pair(rings);
}

}  // namespace tmpi::observe
