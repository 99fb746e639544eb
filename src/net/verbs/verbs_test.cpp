// verbs: over an adapter that is a part of the test (fake_adapter.hpp), and, where there are some, over this machine's
// own (test suite "device": tests/verbs-vm runs it).
#include "net/verbs/verbs.hpp"

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "net/conformance.hpp"
#include "net/conformance_node.hpp"
#include "net/proof.hpp"
#include "net/verbs/adapters.hpp"
#include "net/verbs/fake_adapter.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::world;

conformance::Subject over_fake(std::string settings = {}) {
  conformance::Subject subject;
  subject.spec = "verbs:" + settings;
  subject.processes = false;
  subject.patience = 20;
  subject.largest = std::min<std::size_t>(conformance::kLargest, 8 << 20);
  subject.make = [settings](const Options& options, Sink& sink) {
    return Verbs::create(fake::api(), settings, options, sink);
  };
  return subject;
}

// Nothing has ever gone wrong that credits and sizes of queues are there to prevent, and all memory is given back.
void check_world() {
  CHECK(world().frames_without_buffer == 0);
  CHECK(world().overflows == 0);
  CHECK(world().memory.empty());
  CHECK(world().pairs.empty());
  CHECK(world().windows.empty());
}

TEST_CASE("the conformance suite over an adapter in memory") {
  conformance::check_conformance(over_fake());
  check_world();
}

// Nothing of the user's can be registered: large messages leave in pieces, and are read by way of send buffers.
TEST_CASE("without memory to register") {
  conformance::Subject subject = over_fake();
  std::size_t pools = 0;
  subject.make = [&](const Options& options, Sink& sink) {
    auto made = Verbs::create(fake::api(), "", options, sink);
    pools = world().registered_bytes;
    return made;
  };
  conformance::run_nodes(subject, 2, [&](conformance::Node& node) {
    const int other = 1 - node.number();
    const auto bytes = conformance::pattern(3, 300'000);
    node.send(other, 1, {}, {});
    node.until("the first message", [&] { return !node.received.empty(); });
    world().most_registered = world().registered_bytes;
    node.send(other, 2, {}, bytes);
    node.until("a large message", [&] { return node.received.size() == 2; });
    if (node.received.size() == 2) CHECK(node.received[1]->payload == bytes);
    CHECK(node.lost_peers.empty());
  });
  world().most_registered = SIZE_MAX;
  check_world();
}

// --- what goes wrong

struct NoSink final : Sink {
  Landing arriving(int, std::uint8_t, std::span<const std::byte>, std::size_t) noexcept override {
    return {};
  }
  void landed(int, void*) noexcept override {}
  void lost(int, const std::string&) noexcept override {}
};

std::string why_not(std::string_view settings, int nodes = 2) {
  Options options;
  options.nodes = nodes;
  options.job = 1;
  REQUIRE(prepare_proofs());
  options.secret = *Secret::draw();
  NoSink sink;
  const auto made = Verbs::create(fake::api(), settings, options, sink);
  return made ? "" : made.message();
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

TEST_CASE("why there is no connection is said before anything else") {
  world().adapters = 0;
  has(why_not(""), "no RDMA adapter");
  world().adapters = 2;
  has(why_not("mlx9"), "no adapter \"mlx9\"; there are: fake0, fake1");
  has(why_not("fake1,2"), "fake1 has 1 port");
  has(why_not("fake1,1,7"), "no GID with index 7");
  world().port_state = IBV_PORT_DOWN;
  has(why_not("fake0"), "fake0 port 1 is down");
  world().port_state = IBV_PORT_ACTIVE;
  world().most_registered = 100'000;
  has(why_not(""), "ulimit -l");
  world().most_registered = SIZE_MAX;
  has(why_not("", 100'000), "cannot serve 100000 nodes");
  CHECK(why_not("fake1,1,2").empty());
  CHECK(why_not("", 1000).empty());
  world().adapters = 1;
  check_world();
}

TEST_CASE("settings") {
  const auto settings = parse_settings("mlx5_1,2,3,interface=ib0");
  REQUIRE(settings);
  CHECK(settings->device == "mlx5_1");
  CHECK(settings->port == 2);
  CHECK(settings->gid == 3);
  CHECK(settings->side == "interface=ib0");
  CHECK(parse_settings("gid=0")->gid == 0);
  CHECK(parse_settings(",2")->port == 2);
  CHECK(parse_settings("")->port == 0);
  for (const char* wrong : {"a,b", "a,0", "port=", "gid=-1", "speed=9", "a,1,2,3", "device=", "interface="})
    CHECK_FALSE(parse_settings(wrong));
}

// Two nodes that have spoken to each other; then `happens`; node 0 is told of a loss whose sentence has `words`.
void check_loss(const std::function<void()>& happens, std::string_view words) {
  std::string why;
  conformance::run_nodes(over_fake(), 2, [&](conformance::Node& node) {
    node.send(1 - node.number(), 1, {}, {});
    node.until("the other", [&] { return !node.received.empty(); });
    if (node.number() == 0) {
      happens();
      node.until("a loss", [&] {
        if (node.lost_peers.empty()) node.try_send(1, 2, {}, conformance::pattern(1, 100'000));
        return !node.lost_peers.empty() && node.in_progress() == 0;
      });
      if (!node.lost_peers.empty()) why = node.lost_peers[0].second;
      CHECK(node.lost_peers.size() == 1);
    } else {
      node.capacity = [](const conformance::Message&) { return std::size_t{0}; };
      const double until = conformance::seconds_now() + 0.1;
      node.until("some time", [&] { return conformance::seconds_now() > until; });
    }
  });
  has(why, words);
  world().events.clear();
  world().frames_without_buffer = 0;
  check_world();
}

TEST_CASE("errors of the adapter are told in one sentence") {
  check_loss([] { world().break_next = IBV_WC_RETRY_EXC_ERR; }, "does not answer fake0 port 1");
  check_loss([] { world().break_next = IBV_WC_REM_ACCESS_ERR; }, "refused");
  check_loss([] { world().break_next = IBV_WC_LOC_QP_OP_ERR; }, "completion status 2");
  check_loss([] { fake::announce(IBV_EVENT_DEVICE_FATAL); }, "must be reset");
  check_loss([] { fake::announce(IBV_EVENT_PORT_ERR); }, "has gone down: a cable is pulled");
}

// --- registered memory

struct Memory {
  std::byte* data;
  std::size_t bytes;
  explicit Memory(std::size_t size)
      : data(static_cast<std::byte*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes(size) {}
  ~Memory() {
    if (data != nullptr) munmap(data, bytes);
  }
};

struct Cache {
  Cache() {
    auto opened = Device::open(fake::api(), {}, {});
    REQUIRE(opened);
    device = std::move(*opened);
    std::string why;
    auto watch = UnmapWatch::create(why);
    if (watch == nullptr) MESSAGE("skipped: no registrations are kept here: " << why);
    watches = watch != nullptr;
    registrations.use(*device, std::move(watch));
  }
  // Uses the memory for a message.
  void use(const std::byte* data, std::size_t bytes) {
    Registration* const held = registrations.acquire(data, bytes, Registrations::Use::kWrite);
    REQUIRE(held != nullptr);
    registrations.release(*held);
  }
  std::uint64_t registered() const { return registrations.counts().registered; }

  std::unique_ptr<Device> device;
  Registrations registrations;
  bool watches = false;
};

TEST_CASE("memory stays registered until it is unmapped, moved or given back") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(1 << 20);
  cache.use(memory.data, memory.bytes);
  cache.use(memory.data + 5000, 100'000);
  CHECK(cache.registered() == 1);
  CHECK(cache.registrations.counts().found == 1);
  SUBCASE("unmapped, and something else mapped there") {
    munmap(memory.data, memory.bytes);
    mmap(memory.data, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  SUBCASE("something else mapped over a part") {
    mmap(memory.data + 65536, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  SUBCASE("given back") {
    madvise(memory.data, memory.bytes, MADV_DONTNEED);
  }
  SUBCASE("moved") {
    Memory target(memory.bytes);
    std::byte* const before = std::exchange(memory.data, target.data);
    CHECK(mremap(before, memory.bytes, memory.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target.data) ==
          target.data);
    mmap(before, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    cache.use(before, memory.bytes);
    CHECK(cache.registered() == 2);
    munmap(before, memory.bytes);
    target.data = nullptr;
    return;
  }
  SUBCASE("unmapped by another thread") {
    std::thread([&] {
      munmap(memory.data, memory.bytes);
      mmap(memory.data, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }).join();
  }
  cache.use(memory.data, memory.bytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().unmapped == 1);
}

TEST_CASE("what malloc gives back to the system is not used again") {
  Cache cache;
  if (!cache.watches) return;
  mallopt(M_MMAP_THRESHOLD, 512 << 10);  // and it stays there
  int mapped = 0;
  for (int round = 0; round < 50; ++round) {
    const std::size_t bytes = (std::size_t{1} << 20) << (round % 6);
    auto* const memory = static_cast<std::byte*>(std::malloc(bytes));
    const bool is_mapped =
        (reinterpret_cast<const std::size_t*>(memory)[-1] & 2) != 0;  // else it stays with malloc
    mapped += is_mapped ? 1 : 0;
    const std::uint64_t before = cache.registered();
    cache.use(memory, bytes);
    if (is_mapped) CHECK(cache.registered() == before + 1);
    const std::uint64_t after = cache.registered();
    cache.use(memory, bytes);
    CHECK(cache.registered() == after);
    std::free(memory);
  }
  CHECK(mapped > 5);
}

TEST_CASE("registrations that overlap, that are many, that are too much") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(16 << 20);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 20480, 8192);
  cache.use(memory.data + 4096, 20480);  // both become one
  CHECK(cache.registered() == 3);
  CHECK(world().memory.size() == 1);
  cache.use(memory.data, 28672);
  CHECK(cache.registered() == 3);
  // Somebody holds it while another takes its place.
  Registration* const held = cache.registrations.acquire(memory.data, 4096, Registrations::Use::kRead);
  cache.use(memory.data + 24576, 8192);
  CHECK(world().memory.size() == 2);
  cache.registrations.release(*held);
  CHECK(world().memory.size() == 1);
  // The oldest make room: for more, and where no more can be registered.
  for (std::size_t i = 0; i < Registrations::kMostCached + 10; ++i)
    cache.use(memory.data + i * 8192 + 65536, 100);
  CHECK(world().memory.size() == Registrations::kMostCached);
  world().most_registered = world().registered_bytes;
  cache.use(memory.data + (15 << 20), 8192);
  CHECK(world().memory.size() == Registrations::kMostCached - 1);
  world().most_registered = 0;
  CHECK(cache.registrations.acquire(memory.data, 16 << 20, Registrations::Use::kWrite) == nullptr);
  CHECK(world().memory.empty());
  world().most_registered = SIZE_MAX;
}

// --- this machine's adapters

bool has_adapter() {
  if (const std::string why = why_not_here(); !why.empty()) {
    MESSAGE("skipped: " << why);
    return false;
  }
  return true;
}

TEST_CASE("the conformance suite over this machine's adapters" * doctest::test_suite("device")) {
  if (!has_adapter()) return;
  conformance::Subject subject{"verbs"};
  subject.patience = 60;
  subject.largest = 4 << 20;
  conformance::check_conformance(subject);
}

}  // namespace
}  // namespace tmpi::net::verbs
