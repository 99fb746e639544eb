#include "observe/job_trace.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmpi::observe {
namespace {

Event message(EventKind kind, std::uint64_t time, int from, int to, int tag) {
  Event event;
  event.kind = kind;
  event.begin = time;
  event.end = time;
  event.context = 1;
  event.number = static_cast<std::uint64_t>(from);
  event.rank = from;
  event.peer = to;
  event.tag = tag;
  return event;
}

struct Part {
  TracePart part;
  std::vector<Event> events;

  Part(int node, const char* host, std::int64_t wall, std::vector<Event> kept) : events(std::move(kept)) {
    part.node = node;
    part.host = host;
    part.machine = host;
    part.wall = wall;
    part.origin = static_cast<double>(wall) * 1e-9;
    part.ranks = {node};
    part.functions = {"", "MPI_Send"};
    part.sites = {"main at a.c:1"};
    part.workers.resize(1);
    part.workers[0].name = "worker 0";
    part.workers[0].forgotten = {{{1, 0, 1, 7}, 3, 0}};
    part.workers[0].events = events;
  }

  std::string packed() const {
    const std::uint64_t counts[] = {events.size(), 0};
    return std::string(reinterpret_cast<const char*>(events.data()), events.size() * sizeof(Event)) +
           pack_trace_end(part, counts);
  }
};

/// As a mapped file lies.
struct Aligned {
  explicit Aligned(std::string_view bytes) : room(bytes.size() / sizeof(Event) + 1), size(bytes.size()) {
    bytes.copy(reinterpret_cast<char*>(room.data()), size);
  }
  std::string_view bytes(std::size_t first) const {
    return {reinterpret_cast<const char*>(room.data()), first};
  }
  std::vector<Event> room;
  std::size_t size;
};

TEST_CASE("a part arrives as it was sent, or is said not to be whole") {
  const Part part(3, "here", 5,
                  {message(EventKind::kSent, 1, 0, 1, 7), message(EventKind::kReceived, 2, 1, 0, 7)});
  const Aligned sent(part.packed());
  const Result<TracePart> arrived = unpack_trace(sent.bytes(sent.size));
  REQUIRE(static_cast<bool>(arrived));
  CHECK(arrived->node == 3);
  CHECK(arrived->host == "here");
  CHECK(arrived->wall == 5);
  CHECK(arrived->sites == std::vector<std::string>{"main at a.c:1"});
  REQUIRE(arrived->workers.size() == 1);
  REQUIRE(arrived->workers[0].events.size() == 2);
  CHECK(arrived->workers[0].events[1].begin == 2);
  REQUIRE(arrived->workers[0].forgotten.size() == 1);
  CHECK(arrived->workers[0].forgotten[0].key == MessageKey{1, 0, 1, 7});
  CHECK(arrived->others.events.empty());
  for (std::size_t size = 0; size < sent.size; ++size)
    CHECK_FALSE(static_cast<bool>(unpack_trace(sent.bytes(size))));
  Aligned wrong(part.packed());
  for (std::size_t i = 2 * sizeof(Event); i < wrong.size; ++i) {  // whatever is broken: no crash
    char& byte = reinterpret_cast<char*>(wrong.room.data())[i];
    const char right = std::exchange(byte, static_cast<char>(byte ^ 0x55));
    const Result<TracePart> broken = unpack_trace(wrong.bytes(wrong.size));
    if (broken) CHECK(broken->workers.size() <= 2);
    byte = right;
  }
}

TEST_CASE("machines whose clocks differ: the fastest message in either direction took equally long") {
  // Messages take at least 100; the clock of "there" is 5,000 ahead of what its wall clock says.
  const Part here(0, "here", 1'000'000,
                  {message(EventKind::kSent, 1'000, 0, 1, 1), message(EventKind::kSent, 2'000, 0, 1, 1),
                   message(EventKind::kReceived, 3'300, 1, 0, 2)});
  const Part there(1, "there", 1'000'000 - 5'000,
                   {message(EventKind::kReceived, 6'000 + 250, 0, 1, 1),
                    message(EventKind::kReceived, 7'000 + 100, 0, 1, 1),
                    message(EventKind::kSent, 3'200 + 5'000, 1, 0, 2)});
  // 5,000 is what the wall clocks account for; ours are wrong by another 400.
  Part wrong = there;
  wrong.part.workers[0].events = wrong.events;
  wrong.part.wall += 400;
  const JobTrace trace = join_trace({here.part, wrong.part});
  REQUIRE(trace.messages.paired.size() == 3);
  CHECK(trace.shifts[0] - trace.shifts[1] == 5'000);
  for (const TracedMessage& each : trace.messages.paired)
    CHECK(trace.received(each) >= trace.sent(each) + 100);
  CHECK(std::min(trace.shifts[0], trace.shifts[1]) == 0);
}

TEST_CASE("messages in one direction only: none arrives before it was sent; one machine has one clock") {
  const Part here(0, "here", 1'000'000, {message(EventKind::kSent, 1'000, 0, 1, 1)});
  const Part there(1, "there", 1'000'000, {message(EventKind::kReceived, 700, 0, 1, 1)});
  const Part again(2, "here", 1'000'500, {});
  const JobTrace trace = join_trace({here.part, there.part, again.part});
  CHECK(trace.shifts[1] - trace.shifts[0] == 300);
  CHECK(trace.shifts[2] - trace.shifts[0] == 500);
}

}  // namespace
}  // namespace tmpi::observe
