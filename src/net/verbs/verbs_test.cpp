// verbs: over an adapter that is a part of the test (fake_adapter.hpp), and, where there are some, over this machine's
// own (test suite "device": tests/verbs-vm runs it).
#include "net/verbs/verbs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/copy_few.hpp"
#include "net/conformance.hpp"
#include "net/conformance_node.hpp"
#include "net/conformance_stamp.hpp"
#include "net/proof.hpp"
#include "net/verbs/adapters.hpp"
#include "net/verbs/fake_transport.hpp"
#include "net/verbs/pools.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::check_world;
using fake::over_fake;
using fake::world;

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

// --- what is sent while receive buffers change

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
