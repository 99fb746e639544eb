// verbs: over an adapter that is a part of the test (fake_adapter.hpp), and, where there are some, over this machine's
// own (test suite "device": tests/verbs-vm runs it).
#include "net/verbs/verbs.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "base/copy_few.hpp"
#include "base/sanitized.hpp"
#include "net/conformance.hpp"
#include "net/conformance_node.hpp"
#include "net/conformance_stamp.hpp"
#include "net/proof.hpp"
#include "net/verbs/adapters.hpp"
#include "net/verbs/fake_adapter.hpp"
#include "net/verbs/rails.hpp"
#include "net/verbs/shared_watch.hpp"
#include "net/verbs/unmap_hooks.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::world;

conformance::Subject over_fake(std::string settings = {}) {
  conformance::Subject subject;
  subject.spec = "verbs:" + settings;
  subject.processes = false;
  subject.largest = std::min<std::size_t>(conformance::kLargest, 8 << 20);
  subject.make = [settings](const Options& options, Sink& sink) {
    return create(fake::api(), settings, options, sink);
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
    auto made = create(fake::api(), "", options, sink);
    pools = world().registered_bytes;
    return made;
  };
  conformance::run_nodes(subject, 2, [&](conformance::Node& node) {
    const int other = 1 - node.number();
    const auto bytes = conformance::pattern(3, 300'000);
    node.send(other, 1, {}, {});
    node.until("the first message", [&] { return !node.received.empty(); });
    {
      const std::lock_guard guard(world().lock);  // the other node does the same
      world().most_registered = world().registered_bytes;
    }
    node.send(other, 2, {}, bytes);
    node.until("a large message", [&] { return node.received.size() == 2; });
    if (node.received.size() == 2) CHECK(conformance::equal(node.received[1]->payload, bytes));
    CHECK(node.lost_peers.empty());
  });
  world().most_registered = SIZE_MAX;
  check_world();
}

TEST_CASE("what is to come unasked finds buffers of its size") {
  conformance::Subject subject = over_fake();
  subject.make = [](const Options& options, Sink& sink) {
    Options larger = options;
    larger.eager = 100'000;
    return create(fake::api(), "", larger, sink);
  };
  const std::uint64_t reads = world().reads;
  conformance::run_nodes(subject, 2, [](conformance::Node& node) {
    const int other = 1 - node.number();
    node.send(other, 1, {}, {});
    node.until("the first message", [&] { return !node.received.empty(); });
    CHECK(node.try_send(other, 2, {}, conformance::pattern(1, 100'000)) == Post::kDone);
    node.until("a large one", [&] { return node.received.size() == 2; });
    CHECK(conformance::equal(node.received[1]->payload, conformance::pattern(1, 100'000)));
  });
  CHECK(world().reads == reads);
  check_world();
}

// Its driver loses count if packets come while a queue pair is reset (Link::stop()).
TEST_CASE("queue pairs of software RoCE are stopped a while before they are reset") {
  world().software = true;
  world().resets = world().hasty_resets = 0;
  conformance::check_conformance(over_fake());
  CHECK(world().resets > 0);
  CHECK(world().hasty_resets == 0);
  world().software = false;
  check_world();
}

// Who waited would reset none in haste. Several attempts: who does not may be kept from its core for a millisecond.
TEST_CASE("queue pairs of other adapters are not waited for") {
  for (int attempt = 0; attempt < 20; ++attempt) {
    world().resets = world().hasty_resets = 0;
    conformance::run_nodes(over_fake(), 2, [](conformance::Node& node) {
      node.send(1 - node.number(), 1, {}, {});
      node.until("the message", [&] { return !node.received.empty(); });
    });
    if (world().hasty_resets == world().resets) break;
  }
  CHECK(world().resets > 0);
  CHECK(world().hasty_resets == world().resets);
  check_world();
}

// --- several adapters

// Each exposure goes by another one.
conformance::Subject over_rails(std::size_t count) {
  conformance::Subject subject = over_fake();
  subject.make = [count](const Options& options, Sink& sink) -> Result<std::unique_ptr<Transport>> {
    std::vector<Settings> rails(count);
    for (std::size_t i = 0; i < count; ++i) rails[i].device = "fake" + std::to_string(i);
    auto turn = std::make_shared<std::size_t>(static_cast<std::size_t>(options.node));
    return create_rails(fake::api(), rails, options, sink, [turn, count] { return ++*turn % count; });
  };
  return subject;
}

TEST_CASE("the conformance suite over several adapters") {
  world().adapters = 3;
  conformance::check_conformance(over_rails(3));
  world().adapters = 1;
  check_world();
}

TEST_CASE("a node with fewer adapters than its peer") {
  world().adapters = 2;
  const std::uint64_t reads = world().reads;
  conformance::Subject subject = over_rails(2);
  subject.make = [make = subject.make](const Options& options, Sink& sink) {
    return options.node == 0 ? make(options, sink) : create(fake::api(), "fake0", options, sink);
  };
  conformance::run_nodes(subject, 2, [](conformance::Node& node) {
    const auto bytes = conformance::pattern(9, 200'000);
    for (std::uint8_t i = 0; i < 8; ++i) node.send(1 - node.number(), i, {}, bytes);
    node.until("all", [&] { return node.received.size() == 8; });
    CHECK(node.lost_peers.empty());
  });
  CHECK(world().reads > reads);
  world().adapters = 1;
  check_world();
}

// What is lost on a rail that carries no messages ends the peer, once.
TEST_CASE("an adapter fails that is not the first") {
  world().adapters = 2;
  conformance::run_nodes(over_rails(2), 2, [](conformance::Node& node) {
    node.send(1 - node.number(), 1, {}, {});
    node.until("the other", [&] { return !node.received.empty(); });
    if (node.number() != 0) return;
    const auto bytes = conformance::pattern(9, 1000);
    RemoteKey keys[2];
    for (RemoteKey& key : keys) {  // by either rail
      const auto exposed = node.net().expose(1, bytes.data(), bytes.size());
      REQUIRE(exposed);
      key = *exposed;
    }
    CHECK((keys[0].word[1] >> 32) + (keys[1].word[1] >> 32) == 1);
    node.until("quiet", [&] { return node.net().idle(); });
    fake::announce(IBV_EVENT_DEVICE_FATAL, "fake1");
    node.until("a loss", [&] { return !node.lost_peers.empty(); });
    REQUIRE_FALSE(node.lost_peers.empty());
    CHECK(node.lost_peers[0].second.find("fake1 port 1 has failed") != std::string::npos);
    for (const RemoteKey& key : keys) node.net().conceal(key);
    const double until = conformance::seconds_now() + 0.5;
    node.until("the other rail", [&] { return conformance::seconds_now() > until; });
    CHECK(node.lost_peers.size() == 1);
  });
  world().events.clear();
  world().adapters = 1;
  check_world();
}

// The sink is told by poll(): whoever posts may be in the middle of something.
TEST_CASE("a key of a rail that the peer has not") {
  world().adapters = 2;
  conformance::run_nodes(over_rails(2), 2, [](conformance::Node& node) {
    node.send(1 - node.number(), 1, {}, {});
    node.until("the other", [&] { return !node.received.empty(); });
    if (node.number() != 0) return;
    Completion completion;
    std::byte data[8];
    const RemoteKey key{{0, std::uint64_t{2} << 32}};
    CHECK(node.net().get(1, key, 0, data, sizeof data, &completion) == Post::kInProgress);
    CHECK(node.lost_peers.empty());
    CHECK(node.net().arm(true).ready);
    node.net().poll();
    CHECK(node.lost_peers.size() == 1);
  });
  world().adapters = 1;
  check_world();
}

TEST_CASE("which adapters are taken") {
  using Names = std::vector<std::string>;
  CHECK(names_of("fake2") == Names{"fake2"});
  CHECK(names_of("fake2+fake0") == Names{"fake2", "fake0"});
  CHECK(names_of("").empty());  // Device::open() takes one
  CHECK(rail_of_address("verbs a|verbs b", 0) == "verbs a");
  CHECK(rail_of_address("verbs a|verbs b", 1) == "verbs b");
  CHECK(rail_of_address("verbs a|verbs b", 2).empty());
  CHECK(nearest_by_processor({"none"})() == 0);
}

// Ranges that it is told to watch, and what is said to have gone.
struct FakeWatch final : UnmapWatch {
  std::vector<bool>& watched;  // by address
  std::vector<Range>& gone_ones;
  FakeWatch(std::vector<bool>& bits, std::vector<Range>& ranges) : watched(bits), gone_ones(ranges) {}
  void set(std::uintptr_t begin, std::uintptr_t end, bool value) {
    for (std::uintptr_t at = begin; at < end; ++at) watched[at] = value;
  }
  bool watch(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    set(begin, end, true);
    return true;
  }
  bool is_shared(std::uintptr_t, std::uintptr_t) noexcept override { return false; }
  void unwatch(std::uintptr_t begin, std::uintptr_t end) noexcept override { set(begin, end, false); }
  bool next(Range& gone) noexcept override {
    if (gone_ones.empty()) return false;
    gone = gone_ones.back();
    gone_ones.pop_back();
    return true;
  }
  std::uint64_t asked() const noexcept override { return 0; }
};

TEST_CASE("memory is watched as long as one adapter's registrations want it") {
  constexpr std::size_t kSpace = 64;
  std::vector<bool> watched(kSpace);
  std::vector<UnmapWatch::Range> gone;
  auto views = share_watch(std::make_unique<FakeWatch>(watched, gone), 3);
  // Against a model: by view, what it wants, and what it is still to be told.
  std::vector<std::vector<bool>> wanted(3, std::vector<bool>(kSpace));
  std::uint32_t random = 1;
  const auto any = [&](std::uint32_t most) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % most;
  };
  for (int step = 0; step < 5000; ++step) {
    const std::size_t user = any(3);
    const std::uintptr_t begin = any(kSpace),
                         end = begin + 1 + any(static_cast<std::uint32_t>(kSpace - begin));
    const std::uint32_t what = any(5);
    if (what < 2) {
      views[user]->watch(begin, end);
      for (std::uintptr_t at = begin; at < end; ++at) wanted[user][at] = true;
    } else if (what < 4) {
      views[user]->unwatch(begin, end);
      for (std::uintptr_t at = begin; at < end; ++at) wanted[user][at] = false;
      for (std::uintptr_t at = begin; at < end; ++at)
        CHECK(watched[at] == (wanted[0][at] || wanted[1][at] || wanted[2][at]));
    } else {
      bool concerned[3];
      for (std::size_t i = 0; i < 3; ++i)
        concerned[i] = std::find(wanted[i].begin() + static_cast<std::ptrdiff_t>(begin),
                                 wanted[i].begin() + static_cast<std::ptrdiff_t>(end),
                                 true) != wanted[i].begin() + static_cast<std::ptrdiff_t>(end);
      gone.push_back({begin, end});
      for (std::size_t i = 0; i < 3; ++i) {  // each is told what concerns it, whoever asks first
        UnmapWatch::Range told;
        CHECK(views[(user + i) % 3]->next(told) == concerned[(user + i) % 3]);
        CHECK_FALSE(views[(user + i) % 3]->next(told));
        if (concerned[(user + i) % 3]) views[(user + i) % 3]->unwatch(begin, end);
        for (std::uintptr_t at = begin; at < end; ++at) wanted[(user + i) % 3][at] = false;
      }
      for (std::uintptr_t at = begin; at < end; ++at) watched[at] = false;  // the memory has gone
    }
  }
  CHECK(share_watch(nullptr, 2).front() == nullptr);
}

// --- siblings

// Two nodes on one thread, which talk all the time, and change their receive buffers meanwhile.
struct Talk {
  conformance::Subject subject = over_fake();
  std::vector<std::unique_ptr<conformance::Node>> nodes;
  std::uint64_t said[2] = {0, 0};
  int switched = 0, retired = 0;

  Talk() {
    REQUIRE(prepare_proofs());
    const Secret secret = *Secret::draw();
    std::vector<Peer> peers;
    for (int i = 0; i < 2; ++i) {
      nodes.push_back(std::make_unique<conformance::Node>(subject, i, 2, 4711, secret));
      peers.push_back({nodes.back()->net().address(), "here"});
    }
    for (int i = 0; i < 2; ++i) {
      REQUIRE(node(i).net().set_peers(peers));
      node(i).on_landed = [this, i](const conformance::Message& message) {
        if (!message.header.empty()) return;
        if (message.id == 1) change(i).receive_by_new(1 - i);
        (message.id == 1 ? switched : retired) += 1;
      };
    }
  }
  conformance::Node& node(int i) { return *nodes[static_cast<std::size_t>(i)]; }
  Reconnection& change(int i) { return *node(i).net().reconnection(); }
  bool wait(const std::function<bool()>& condition) { return conformance::poll_until(nodes, condition, 20); }

  void post(int from, std::uint8_t id, const conformance::Bytes& header, const conformance::Bytes& payload) {
    CHECK(wait([&, left = payload]() mutable {
      return node(from).try_send(1 - from, id, header, std::move(left)) != Post::kNoResource;
    }));
  }
  void say(int from, int messages) {
    for (int i = 0; i < messages; ++i) {
      const std::uint64_t seed = said[from]++;
      const std::size_t size = seed % 5 == 3 ? 20'000 + seed * 7919 % 400'000 : seed * 31 % 3000;
      post(from, static_cast<std::uint8_t>(seed), conformance::to_header({seed, size}),
           conformance::pattern(seed, size));
    }
  }
  void begin() {
    for (int i = 0; i < 2; ++i) say(i, 20);
    CHECK(wait([&] { return node(0).net().idle() && node(1).net().idle(); }));
  }
  // Both ends take the steps of net/reconnection.hpp.
  void change_to(std::size_t eager) {
    Endpoint ends[2];
    for (int i = 0; i < 2; ++i) REQUIRE(change(i).prepare(1 - i, eager, ends[i]));
    for (int i = 0; i < 2; ++i) REQUIRE(change(i).connect(1 - i, ends[1 - i]));
    switched = retired = 0;
    for (int i = 0; i < 2; ++i) {
      say(i, 20);
      post(i, 1, {}, {});
      change(i).send_by_new(1 - i);
      say(i, 20);
    }
    CHECK(wait([&] { return switched == 2; }));
    for (int i = 0; i < 2; ++i) post(i, 2, {}, {});
    CHECK(wait([&] { return retired == 2; }));
    for (int i = 0; i < 2; ++i) change(i).retire_old(1 - i);
    for (int i = 0; i < 2; ++i) say(i, 20);
  }
  void check() {
    const auto count = [](conformance::Node& of) {
      return static_cast<std::uint64_t>(std::count_if(
          of.received.begin(), of.received.end(), [](const auto& each) { return !each->header.empty(); }));
    };
    CHECK(wait([&] { return count(node(0)) == said[1] && count(node(1)) == said[0]; }));
    CHECK(wait([&] { return node(0).in_progress() == 0 && node(1).in_progress() == 0; }));
    for (int i = 0; i < 2; ++i) {
      std::erase_if(node(i).received, [](const auto& each) { return each->header.empty(); });
      conformance::check_in_order(node(i), 1 - i, 0, said[1 - i]);
      CHECK(node(i).lost_peers.empty());
    }
  }
};

TEST_CASE("receive buffers of another size while messages are under way") {
  {
    Talk talk;
    talk.begin();
    const auto buffers = [&](int i) { return talk.node(i).net().receive_buffers(); };
    const std::uint64_t before = buffers(0).bytes;
    CHECK(buffers(0).pools == 1);
    for (const std::size_t eager : {64 << 10, 300 << 10, 8 << 10, 64 << 10}) talk.change_to(eager);
    CHECK(buffers(0).most_bytes > before);
    // Given up before it is used: by one end, by both.
    Endpoint end;
    CHECK(talk.change(0).prepare(1, 1 << 20, end));
    CHECK_FALSE(talk.change(0).prepare(1, 2 << 20, end));
    talk.change(0).drop_new(1);
    CHECK_FALSE(talk.change(0).prepare(1, std::size_t{1} << 30, end));
    talk.change_to(4 << 10);
    talk.check();
    for (int i = 0; i < 2; ++i) {
      CHECK(talk.wait([&] { return buffers(i).pools == 1; }));
      CHECK(buffers(i).bytes == before);
    }
    // Both ends leave in the middle of a change.
    for (int i = 0; i < 2; ++i) CHECK(talk.change(i).prepare(1 - i, 100 << 10, end));
    CHECK(talk.node(0).net().close(5));
    CHECK(talk.wait([&] { return talk.node(1).net().close(5); }));
  }
  check_world();
}

TEST_CASE("a peer that dies while receive buffers change") {
  {
    Talk talk;
    talk.begin();
    talk.change_to(64 << 10);
    Endpoint ends[2];
    for (int i = 0; i < 2; ++i) REQUIRE(talk.change(i).prepare(1 - i, 200 << 10, ends[i]));
    for (int i = 0; i < 2; ++i) REQUIRE(talk.change(i).connect(1 - i, ends[1 - i]));
    talk.change(0).send_by_new(1);
    talk.say(0, 30);
    talk.node(1).destroy();
    talk.nodes.pop_back();
    CHECK(talk.wait([&] { return talk.node(0).lost_peers.size() == 1 && talk.node(0).in_progress() == 0; }));
    talk.change(0).receive_by_new(1);
    talk.change(0).retire_old(1);
    talk.node(0).net().close(1);
  }
  check_world();
}

TEST_CASE("receive buffers are posted again several at a time, after what has come has been told of") {
  {
    Talk talk;
    talk.begin();
    const std::uint64_t before = talk.node(1).received.size();
    const auto posts = [begun = world().receive_posts] { return world().receive_posts - begun; };
    const auto frames = [&](int count) {
      for (int i = 0; i < count; ++i) talk.post(0, 7, conformance::to_header({0, 0}), {});
    };
    while (talk.node(1).net().poll() || talk.node(0).net().poll()) {
    }
    const std::uint64_t begun = posts();
    frames(1);
    talk.node(1).net().poll();
    CHECK(talk.node(1).received.size() == before + 1);
    CHECK(posts() == begun);
    talk.node(1).net().poll();
    CHECK(posts() == begun + 1);
    frames(24);
    talk.node(1).net().poll();
    CHECK(talk.node(1).received.size() == before + 25);
    CHECK(posts() == begun + 1 + 24 / ReceivePool::kMostTogether);
    for (auto& each : talk.nodes) each->net().close(1);
  }
  check_world();
}

TEST_CASE("who has nothing under way asks only for what has come") {
  {
    Talk talk;
    talk.begin();
    const auto asked = [&] {
      const std::uint64_t before = world().polls;
      talk.node(0).net().poll();
      return world().polls - before;
    };
    // Every 2 ms it asks for both: queue pairs that are no more may have left some.
    CHECK(talk.wait([&] { return asked() == 1; }));
    talk.post(0, 7, conformance::to_header({0, 0}), {});
    CHECK(asked() >= 2);
    for (auto& each : talk.nodes) each->net().close(1);
  }
  check_world();
}

TEST_CASE("few bytes are copied as many are, and nothing beside them") {
  const conformance::Bytes from = conformance::pattern(1, 200);
  for (std::size_t bytes = 0; bytes <= 130; ++bytes) {
    conformance::Bytes to(from.size(), std::byte{0xdd}), expected = to;
    copy_few(to.data() + 3, from.data() + 5, bytes);
    std::memcpy(expected.data() + 3, from.data() + 5, bytes);
    CHECK_MESSAGE(conformance::equal(to, expected), bytes, " bytes");
  }
  copy_few(nullptr, nullptr, 0);
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
  const auto made = create(fake::api(), settings, options, sink);
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

TEST_CASE("InfiniBand comes before Ethernet; equal adapters are taken in turn") {
  world().adapters = 3;
  const auto chosen = [](Turn turn) {
    const auto device = Device::open(fake::api(), {}, turn);
    REQUIRE(device);
    return (*device)->name;
  };
  CHECK(chosen({true, 0}) == "fake0");
  CHECK(chosen({true, 4}) == "fake1");
  CHECK(chosen({false, 4}) == "fake0");
  world().infiniband = 2;
  CHECK(chosen({true, 0}) == "fake2");
  CHECK(chosen({false, 1}) == "fake2");
  world().infiniband = -1;
  world().adapters = 1;
}

TEST_CASE("settings") {
  const auto settings = parse_settings("mlx5_1,2,3,interface=ib0");
  REQUIRE(settings);
  CHECK(settings->device == "mlx5_1");
  CHECK(settings->port == 2);
  CHECK(settings->gid == 3);
  CHECK(settings->side == "interface=ib0");
  CHECK(parse_settings("gid=0")->gid == 0);
  CHECK(parse_settings("fake0,patience=3")->patience == 3);
  CHECK(parse_settings(",2")->port == 2);
  CHECK(parse_settings("")->port == 0);
  CHECK(parse_settings("a+b,1")->device == "a+b");
  CHECK(parse_settings("1+2+3+4+5+6+7+8"));
  for (const char* wrong : {"a,b", "a,0", "port=", "gid=-1", "speed=9", "a,1,2,3", "device=", "interface=",
                            "patience=0", "a+", "+a", "+", "a++b", "a+a", "a+b+a", "1+2+3+4+5+6+7+8+9"})
    CHECK_FALSE(parse_settings(wrong));
}

// Two nodes that have spoken to each other; then `happens`; node 0 is told of a loss whose sentence has `words`.
void check_loss(const std::function<void()>& happens, std::string_view words,
                const std::string& settings = {}) {
  std::string why;
  conformance::run_nodes(over_fake(settings), 2, [&](conformance::Node& node) {
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
  check_loss([] { world().break_next = IBV_WC_WR_FLUSH_ERR; }, "does not say why");
  for (const ibv_event_type type : {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR})
    check_loss([type] { fake::announce(type); }, "does not say why");
  check_loss([] { fake::announce(IBV_EVENT_DEVICE_FATAL); }, "must be reset");
  check_loss([] { fake::announce(IBV_EVENT_PORT_ERR); }, "has gone down: a cable is pulled");
}

TEST_CASE("a request that neither ends nor fails ends the job") {
  check_loss([] { world().swallow_next = true; }, "fake0 port 1 has neither done", "patience=1");
}

// Nobody polls between his sleeps.
TEST_CASE("a request that neither ends nor fails wakes who sleeps") {
  conformance::run_nodes(over_fake("patience=1"), 2, [](conformance::Node& node) {
    node.send(1 - node.number(), 1, {}, {});
    node.until("the other", [&] { return !node.received.empty() && node.net().idle(); });
    if (node.number() != 0) return;
    world().swallow_next = true;
    node.send(1, 2, {}, conformance::pattern(1, 100));
    CHECK(node.asleep_until("a loss", [&] { return !node.lost_peers.empty(); }));
  });
  check_world();
}

TEST_CASE("what is slow, or was not looked at, is not stuck") {
  constexpr std::uint64_t kPatience = 1'000'000'000, kLook = 100'000'000;
  WorkWatch watch;
  for (std::uint32_t request = 0; request < 100; ++request)  // each takes nearly as long as one may
    for (int i = 0; i < 10; ++i) CHECK_FALSE(watch.look(request, 0, kLook, kPatience));
  CHECK(watch.look(99, 0, kLook, kPatience));
  for (int i = 0; i <= 110; ++i) CHECK_FALSE(watch.look(100, 100'000'000, kLook - 1, kPatience));
  CHECK(watch.look(100, 100'000'000, kLook, kPatience));

  LookTime time;
  std::uint64_t now = 3'600'000'000'000;
  time.advance(now);
  CHECK(time.advance(now + kLook / 2) == 0);
  CHECK(time.advance(now += kLook) == kLook);
  CHECK(time.advance(now += 60 * kPatience) == LookTime::kMost);  // the process was stopped, or computed
}

// What the last node is told is known behind much else, of which each look takes a part.
TEST_CASE("completions that wait behind others are not stuck") {
  constexpr int kNodes = 5;
  conformance::run_nodes(over_fake("patience=1"), kNodes, [](conformance::Node& node) {
    if (node.number() != 0) {
      node.send(0, 1, {}, {});
      node.until("the end", [&] { return node.received.size() >= (node.number() < kNodes - 1 ? 56 : 2); });
      CHECK(node.lost_peers.empty());
      return;
    }
    node.until("the others", [&] { return node.received.size() == kNodes - 1; });
    for (int other = 1; other < kNodes; ++other) node.send(other, 1, {}, {});
    node.until("quiet", [&] { return node.net().idle(); });
    for (int other = 1; other < kNodes; ++other)
      for (int i = 0; i < (other < kNodes - 1 ? 55 : 1); ++i)
        CHECK(node.try_send(other, 2, {}, {}) != Post::kNoResource);
    for (int look = 0; look < 8; ++look) {
      node.net().poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    CHECK(node.lost_peers.empty());
    node.until("quiet again", [&] { return node.net().idle(); });
  });
  check_world();
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
  std::byte* keep() { return std::exchange(data, nullptr); }
};

// While the process has one thread.
const bool g_hooked = hook_unmappings();

struct Cache {
  explicit Cache(void (*before_reading)() = nullptr) {
    auto opened = Device::open(fake::api(), {}, {});
    REQUIRE(opened);
    device = std::move(*opened);
    std::string why;
    auto watch = UnmapWatch::create(why, before_reading);
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

TEST_CASE("a repeated buffer costs no system call") {
  Cache cache;
  if (!cache.watches || kSanitized) return;
  REQUIRE(g_hooked);
  Memory memory(1 << 20);
  for (int i = 0; i < 1000; ++i) cache.use(memory.data, memory.bytes);
  CHECK(cache.registered() == 1);
  CHECK(cache.registrations.asked() == 0);
  // Somebody unmaps memory: others, and what was registered.
  { Memory other(1 << 20); }
  std::free(std::malloc(64 << 20));
  munmap(memory.data, memory.bytes);
  Memory again(memory.bytes);
  cache.use(again.data, again.bytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.asked() == 0);
  memory.data = nullptr;
}

std::atomic<bool> g_may_read{true};

void wait_for_leave() {
  while (!g_may_read.load()) std::this_thread::yield();
}

// The system unmaps first, tells then, and lets the caller of munmap() return last. Meanwhile another rank may be given the
// addresses.
TEST_CASE("addresses that another has got before their unmapping was told") {
  Cache cache(&wait_for_leave);
  if (!cache.watches) return;
  constexpr std::size_t kBytes = 1 << 20;
  std::byte* place = nullptr;
  std::function<void()> unmap;
  SUBCASE("by munmap") {
    place = Memory(kBytes).keep();
    unmap = [&] { munmap(place, kBytes); };
  }
  SUBCASE("by dlclose") {
    void* const library = dlopen(VERBS_TEST_LIBRARY, RTLD_NOW);
    REQUIRE(library != nullptr);
    place = static_cast<std::byte*>(dlsym(library, "tmpi_test_space"));
    REQUIRE(place != nullptr);
    unmap = [=] { dlclose(library); };
  }
  // A thread that starts late may map memory of its own where the other's was: all have started before that is unmapped,
  // the watch's too, since `first` is gone only when it has been told.
  std::atomic<int> started{0};
  std::atomic<bool> go{false}, ended{false};
  const auto start = [&] {
    ++started;
    while (!go.load()) std::this_thread::yield();
  };
  std::thread leave([&] {  // made now: who calls dlclose() holds a lock that a thread's start needs
    start();
    while (!ended.load()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    g_may_read = true;
  });
  std::thread other([&] {
    start();
    unmap();
  });
  {
    Memory first(kBytes);
    cache.use(first.data, first.bytes);
  }
  cache.use(place, kBytes);
  cache.use(place, kBytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().unmapped == 1);
  while (started.load() != 2) std::this_thread::yield();
  g_may_read = false;
  go = true;
  void* got = MAP_FAILED;
  const double until = conformance::seconds_now() + 20;
  while (got == MAP_FAILED && conformance::seconds_now() < until)
    got =
        mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ended = true;
  if (got == place) {
    cache.use(place, kBytes);
    CHECK(cache.registered() == 3);
    CHECK(cache.registrations.counts().unmapped == 2);
  }
  leave.join();
  other.join();
  REQUIRE(got == place);
  munmap(place, kBytes);
}

TEST_CASE("who unmaps memory without saying so is found out") {
  Cache cache;
  if (!cache.watches) return;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Memory memory(1 << 20);
    cache.use(memory.data, memory.bytes);
    CHECK(cache.registered() == round);
    const std::uint64_t asked = cache.registrations.asked();
    cache.use(memory.data, memory.bytes);
    if (!kSanitized) CHECK(cache.registrations.asked() - asked == (round == 1 ? 0 : 1));
    syscall(SYS_munmap, std::exchange(memory.data, nullptr), memory.bytes);
  }
}

// The functions that have taken the place of the C library's.
TEST_CASE("what is hooked still does what it did") {
  constexpr std::size_t kBytes = 1 << 16;
  Memory memory(kBytes);
  std::memset(memory.data, 1, kBytes);
  CHECK(madvise(memory.data, kBytes, MADV_DONTNEED) == 0);
  CHECK(memory.data[0] == std::byte{0});
  CHECK(madvise(memory.data + 1, kBytes, MADV_DONTNEED) == -1);
  CHECK(errno == EINVAL);
  memory.data[100] = std::byte{7};
  auto* const moved = static_cast<std::byte*>(mremap(memory.data, kBytes, 4 * kBytes, MREMAP_MAYMOVE));
  REQUIRE(static_cast<void*>(moved) != MAP_FAILED);
  memory.data = moved;
  memory.bytes = 4 * kBytes;
  CHECK(moved[100] == std::byte{7});
  CHECK(mmap(memory.data, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
  CHECK(errno == EINVAL);
  CHECK(munmap(memory.data + 1, kBytes) == -1);
  CHECK(errno == EINVAL);
  void* const before = sbrk(0);
  CHECK(sbrk(1 << 20) == before);
  CHECK(static_cast<char*>(sbrk(0)) == static_cast<char*>(before) + (1 << 20));
  CHECK(sbrk(-(1 << 20)) != reinterpret_cast<void*>(-1));
  CHECK(sbrk(0) == before);
  CHECK(brk(reinterpret_cast<void*>(UINTPTR_MAX / 2)) == -1);
  CHECK(errno == ENOMEM);
  const int segment = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
  if (segment < 0) return;  // not in this container
  void* const attached = shmat(segment, nullptr, 0);
  CHECK(attached != reinterpret_cast<void*>(-1));
  CHECK(shmdt(attached) == 0);
  CHECK(shmdt(attached) == -1);
  shmctl(segment, IPC_RMID, nullptr);
}

// A sanitizer has a malloc of its own.
TEST_CASE("what malloc gives back to the system is not used again" * doctest::skip(kSanitized)) {
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

TEST_CASE("a registration that fails leaves those alone that it would have replaced") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(1 << 20);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  world().unreadable = memory.data + 12288;
  CHECK(cache.registrations.acquire(memory.data + 4096, 16384, Registrations::Use::kWrite) == nullptr);
  world().unreadable = nullptr;
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  CHECK(cache.registrations.counts().found == 2);
  CHECK(cache.registered() == 2);
  // They are watched as before.
  madvise(memory.data, 4096, MADV_DONTNEED);
  madvise(memory.data + 20480, 4096, MADV_DONTNEED);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  CHECK(cache.registered() == 4);
  // If need be they make room.
  world().most_registered = 16384;
  cache.use(memory.data, 12288);
  CHECK(cache.registered() == 5);
  CHECK(world().memory.size() == 1);
  world().most_registered = SIZE_MAX;
}

// Whoever has it mapped elsewhere, or its descriptor, may take pages away from it.
TEST_CASE("registrations of shared memory are not kept") {
  Cache cache;
  if (!cache.watches) return;
  constexpr std::size_t kBytes = 1 << 20;
  const int file = memfd_create("shared", MFD_CLOEXEC);
  REQUIRE(ftruncate(file, kBytes) == 0);
  auto* const shared =
      static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::memset(shared, 1, kBytes);
  cache.use(shared, kBytes);
  CHECK(world().memory.empty());
  cache.use(shared, kBytes);
  CHECK(cache.registrations.counts().found == 0);
  munmap(shared, kBytes);
  close(file);
}

TEST_CASE("a segment that is attached over other memory") {
  const int segment = shmget(IPC_PRIVATE, 1 << 16, IPC_CREAT | 0600);
  Cache cache;
  if (!cache.watches || !g_hooked || segment < 0) return;
  Memory memory(1 << 20);
  cache.use(memory.data, memory.bytes);
  CHECK(shmat(segment, memory.data + 65536, SHM_REMAP) == memory.data + 65536);
  cache.use(memory.data, 65536);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().found == 0);
  shmctl(segment, IPC_RMID, nullptr);
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
