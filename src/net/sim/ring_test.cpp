#include "net/sim/ring.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"
#include "net/sim/exposed.hpp"

namespace tmpi::net::sim {
namespace {

struct Ring {
  explicit Ring(std::uint64_t capacity)
      : bytes(static_cast<std::byte*>(std::aligned_alloc(64, capacity))),
        writer(&state, bytes, capacity),
        reader(&state, bytes, capacity) {}
  ~Ring() { std::free(bytes); }

  RingState state;
  std::byte* bytes;
  RingWriter writer;
  RingReader reader;
};

bool put(RingWriter& writer, std::uint32_t number, std::uint32_t size) {
  Record* record = writer.reserve(size);
  if (record == nullptr) return false;
  record->kind = Kind::kFirst;
  record->data = size;
  record->payload = number;
  std::memset(record->content(), static_cast<int>(number & 0xff), size);
  writer.publish(*record);
  return true;
}

// Sizes that differ, up to a quarter of 4 KiB.
std::uint32_t size_of(std::uint32_t number) {
  return number * 2654435761u >> 22;
}

TEST_CASE("records arrive in order and whole, while two threads are at it") {
  Ring ring(4096);
  constexpr std::uint32_t kRecords = kSanitized ? 4'000 : 20'000;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kRecords;) {
      if (put(ring.writer, i, size_of(i))) {
        ++i;
      } else {
        sched_yield();
      }
    }
    ring.writer.end(Life::kClosed);
  });
  bool fine = true;
  for (std::uint32_t i = 0; i < kRecords;) {
    Record* record = ring.reader.front();
    if (record == nullptr) {
      sched_yield();
      continue;
    }
    fine = fine && record->payload == i && record->data == size_of(i);
    for (std::uint32_t byte = 0; byte < record->data; ++byte)
      fine = fine && record->content()[byte] == static_cast<std::byte>(i & 0xff);
    ring.reader.pop();
    ++i;
  }
  writer.join();
  CHECK(fine);
  CHECK(ring.reader.writer() == Life::kClosed);
  CHECK(ring.reader.front() == nullptr);
}

TEST_CASE("a writer without room is told when half of the ring is free") {
  Ring ring(4096);
  std::uint32_t written = 0;
  while (put(ring.writer, written, 200)) ++written;
  CHECK(written == 4096 / 320 + 0);
  std::uint32_t told = 0, read = 0;
  while (ring.reader.front() != nullptr) {
    ++read;
    if (ring.reader.pop() && told == 0) told = read;
  }
  CHECK(read == written);
  CHECK(told >= written / 2);
  CHECK(told <= written / 2 + 2);
  CHECK(put(ring.writer, 0, 200));
}

TEST_CASE("an empty ring is begun anew: little memory is touched") {
  constexpr std::uint64_t kCapacity = 4 << 20;
  Ring ring(kCapacity);
  std::byte* furthest = ring.bytes;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    REQUIRE(put(ring.writer, i, 1000));
    Record* record = ring.reader.front();
    REQUIRE(record != nullptr);
    furthest = std::max(furthest, record->content());
    ring.reader.pop();
  }
  CHECK(furthest - ring.bytes < 300 * 1024);
}

TEST_CASE("a ring that is never empty is begun anew, too, and what comes then still finds room") {
  constexpr std::uint64_t kCapacity = 4 << 20;
  constexpr std::uint32_t kBytes = 20'000;
  Ring ring(kCapacity);
  std::byte* furthest = ring.bytes;
  std::uint32_t written = 0, read = 0;
  const auto take = [&] {
    Record* record = ring.reader.front();
    REQUIRE(record != nullptr);
    CHECK(record->payload == read++);
    furthest = std::max(furthest, record->content());
    ring.reader.pop();
  };
  REQUIRE(put(ring.writer, written++, kBytes));
  for (int i = 0; i < 5'000; ++i) {
    REQUIRE(put(ring.writer, written++, kBytes));
    take();
  }
  CHECK(furthest - ring.bytes < static_cast<std::ptrdiff_t>(kCapacity / 8 + 3 * kBytes));
  // Wherever it is: an eighth of it has room.
  for (int start = 0; start < 60; ++start) {
    for (std::uint64_t bytes = 0; bytes + 2 * kBytes < kCapacity / 8; bytes += kBytes)
      REQUIRE(put(ring.writer, written++, kBytes));
    while (read + 1 < written) take();
    REQUIRE(put(ring.writer, written++, kBytes));
    take();
  }
}

TEST_CASE("memory is open to reads inside what is exposed, while it is exposed") {
  const auto table = std::make_unique<ExposedTable>();
  ExposedSlots slots(table.get());
  std::vector<char> memory(100);
  const auto base = reinterpret_cast<std::uint64_t>(memory.data());
  const RemoteKey key = *slots.expose(memory.data(), memory.size());
  CHECK(table->allows(key, base, 100));
  CHECK(table->allows(key, base + 99, 1));
  CHECK(table->allows(key, base + 100, 0));
  CHECK_FALSE(table->allows(key, base, 101));
  CHECK_FALSE(table->allows(key, base + 1, UINT64_MAX));
  CHECK_FALSE(table->allows(key, base - 1, 1));
  CHECK_FALSE(table->allows(RemoteKey{}, 0, 0));
  CHECK_FALSE(table->allows(RemoteKey{{UINT64_MAX, 1}}, base, 1));
  slots.conceal(key);
  CHECK_FALSE(table->allows(key, base, 1));
  const RemoteKey again = *slots.expose(memory.data(), memory.size());
  CHECK_FALSE(table->allows(key, base, 1));
  CHECK(table->allows(again, base, 1));
}

TEST_CASE("slots for exposed memory run out, and come back") {
  const auto table = std::make_unique<ExposedTable>();
  ExposedSlots slots(table.get());
  char memory = 0;
  RemoteKey last;
  for (std::uint32_t i = 0; i < ExposedTable::kSlots; ++i) last = *slots.expose(&memory, 1);
  CHECK_FALSE(slots.expose(&memory, 1).has_value());
  slots.conceal(last);
  CHECK(slots.expose(&memory, 1).has_value());
}

}  // namespace
}  // namespace tmpi::net::sim
