#include "observe/messages.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "observe/event_ring.hpp"

namespace tmpi::observe {
namespace {

Event message(EventKind kind, std::uint64_t tick, int from, int to, int tag, std::int64_t bytes) {
  Event event;
  event.kind = kind;
  event.begin = tick;
  event.context = 1;
  event.number = static_cast<std::uint64_t>(from);
  event.rank = from;
  event.peer = to;
  event.tag = tag;
  event.bytes = bytes;
  return event;
}

Event stretch(std::uint64_t begin, std::uint64_t end) {
  Event event;
  event.begin = begin;
  event.end = end;
  return event;
}

std::unique_ptr<EventRing> ring_of(std::size_t events) {
  auto ring = std::make_unique<EventRing>();
  REQUIRE(static_cast<bool>(ring->open(events * sizeof(Event))));
  return ring;
}

/// What a node process with these workers says, in ticks.
struct Part {
  explicit Part(const std::vector<const EventRing*>& rings) {
    events.reserve(rings.size());
    for (const EventRing* ring : rings) {
      std::vector<Event>& kept = events.emplace_back();
      ring->for_each([&](const Event& event) { kept.push_back(event); });
      TraceTrack& track = part.workers.emplace_back();
      track.events = kept;
      track.complete_since = ring->complete_since();
      track.exact = ring->dropped_messages().exact();
      ring->dropped_messages().for_each(
          [&](const MessageTally::Count& each) { track.forgotten.push_back(each); });
    }
  }
  std::vector<std::vector<Event>> events;
  TracePart part;
};

TracedMessages paired(const std::vector<const EventRing*>& rings) {
  const Part part(rings);
  return pair_messages({&part.part, 1});
}

TEST_CASE("a ring keeps the newest events and counts the others") {
  const auto ring = ring_of(4);
  for (std::uint64_t i = 0; i < 10; ++i) ring->push(stretch(i, i + 1));
  CHECK(ring->written() == 10);
  CHECK(ring->dropped() == 6);
  CHECK(ring->complete_since() == 6);  // the end of the last dropped
  std::uint64_t expected = 6;
  ring->for_each([&](const Event& event) { CHECK(event.begin == expected++); });
  CHECK(expected == 10);
}

TEST_CASE("the n-th sent is the n-th received, for each channel by itself") {
  const auto a = ring_of(64), b = ring_of(64);
  // Out of order between channels and rings; received by either side's worker.
  a->push(message(EventKind::kSent, 10, 0, 1, 7, 100));
  a->push(message(EventKind::kSent, 20, 0, 1, 8, 200));
  a->push(message(EventKind::kSent, 30, 0, 1, 7, 101));
  b->push(message(EventKind::kReceived, 25, 0, 1, 8, 200));
  b->push(message(EventKind::kReceived, 26, 0, 1, 7, 100));
  a->push(message(EventKind::kReceived, 31, 0, 1, 7, 101));
  a->push(message(EventKind::kSent, 40, 0, 1, 7, 102));  // never received
  const TracedMessages messages = paired({a.get(), b.get()});
  CHECK(messages.known);
  CHECK(messages.unpaired == 1);
  std::map<std::int64_t, std::pair<std::uint64_t, std::uint64_t>> ticks;
  for (const TracedMessage& m : messages.paired) ticks[m.bytes] = {m.sent, m.received};
  CHECK(ticks == decltype(ticks){{100, {10, 26}}, {101, {30, 31}}, {200, {20, 25}}});
}

TEST_CASE("pairs stay right whatever the rings drop") {
  // Two workers' rings of various sizes, one channel; some receives are noted by the sender's worker. The
  // n-th message has n bytes, in both events.
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto a = ring_of(1 + random() % 40), b = ring_of(1 + random() % 40);
    std::uint64_t tick = 0;
    std::int64_t sent = 0, received = 0;
    for (int i = 0; i < 100; ++i) {
      tick += 1 + random() % 3;
      if (received == sent || random() % 2 == 0) {
        a->push(message(EventKind::kSent, tick, 3, 4, 5, ++sent));
      } else {
        (random() % 3 == 0 ? a : b)->push(message(EventKind::kReceived, tick, 3, 4, 5, ++received));
      }
      if (random() % 4 == 0) (random() % 2 == 0 ? a : b)->push(stretch(tick - 1, tick));
    }
    std::map<std::int64_t, std::uint64_t> at;  // bytes of a kept receive -> its tick
    for (const EventRing* ring : {a.get(), b.get()}) {
      ring->for_each([&](const Event& event) {
        if (event.kind == EventKind::kReceived) at[event.bytes] = event.begin;
      });
    }
    const TracedMessages messages = paired({a.get(), b.get()});
    for (const TracedMessage& m : messages.paired) {
      REQUIRE(at.count(m.bytes) == 1);
      CHECK(at[m.bytes] == m.received);
      CHECK(m.sent < m.received);
    }
  }
}

TEST_CASE("too many channels to remember: nothing is paired, and it is said") {
  const auto ring = ring_of(2);
  for (int i = 0; i < 40'000; ++i)
    ring->push(message(EventKind::kSent, static_cast<std::uint64_t>(i) + 1, 0, 1, i, 1));
  ring->push(message(EventKind::kReceived, 50'000, 0, 1, 39'999, 1));
  const TracedMessages messages = paired({ring.get()});
  CHECK_FALSE(messages.known);
  CHECK(messages.paired.empty());
  CHECK(messages.unpaired == 2);
}

}  // namespace
}  // namespace tmpi::observe
