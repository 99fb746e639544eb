// What a user asks for that is not there, and what goes wrong while the job runs.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "net/conformance.hpp"
#include "net/conformance_node.hpp"
#include "net/proof.hpp"
#include "net/verbs/device.hpp"
#include "net/verbs/fake_transport.hpp"
#include "net/verbs/settings.hpp"
#include "net/verbs/work_watch.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::check_world;
using fake::over_fake;
using fake::world;

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

}  // namespace
}  // namespace tmpi::net::verbs
