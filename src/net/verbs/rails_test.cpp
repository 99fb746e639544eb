// Several adapters per node, each a part of the test.
#include "net/verbs/rails.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/conformance.hpp"
#include "net/conformance_node.hpp"
#include "net/verbs/fake_transport.hpp"
#include "net/verbs/settings.hpp"
#include "net/verbs/shared_watch.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::check_world;
using fake::over_fake;
using fake::world;

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

}  // namespace
}  // namespace tmpi::net::verbs
