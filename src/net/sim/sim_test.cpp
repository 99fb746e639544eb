// Two and more nodes in this process, and one in another: what sim does, whatever the model says of its times
// (loggp_test.cpp).
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "net/sim/sim_test_support.hpp"

namespace tmpi::net::sim::test {
namespace {

std::vector<char> pattern(std::size_t bytes) {
  std::vector<char> data(bytes);
  std::uint64_t value = 1;
  for (std::size_t at = 0; at < bytes; at += sizeof value) {
    value += 0x9e3779b97f4a7c15u;
    std::memcpy(data.data() + at, &value, std::min(sizeof value, bytes - at));
  }
  return data;
}

constexpr const char* kFast = "latency=0s,bandwidth=1TB/s";

TEST_CASE("messages of all sizes arrive whole, in order, with their headers") {
  auto nodes = make_nodes(2, kFast);
  std::vector<std::vector<char>> sent;
  for (const std::size_t size : {0u, 1u, 8u, 100u, 16384u, 16385u, 131072u, 131073u, 1000000u, 70000000u, 5u})
    sent.push_back(pattern(size));
  std::vector<Done> done(sent.size());
  int next = 0;
  int in_progress = 0, completed = 0;
  REQUIRE(drive(nodes, [&] {
    while (next < static_cast<int>(sent.size())) {
      const auto i = static_cast<std::size_t>(next);
      const Post post = nodes[0]->send(1, fmt::format("header {}", next), sent[i], &done[i]);
      if (post == Post::kNoResource) break;
      if (post == Post::kInProgress) {
        CHECK(sent[i].size() > nodes[0]->net->limits().most_buffered);
        ++in_progress;
      }
      ++next;
    }
    return nodes[1]->sink.received.size() == sent.size() && nodes[0]->net->idle();
  }));
  for (const Done& each : done) completed += each.time != 0;
  CHECK(in_progress > 0);
  CHECK(completed == in_progress);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Received& message = nodes[1]->sink.received[i];
    CHECK(message.peer == 0);
    CHECK(message.id == 7);
    CHECK(message.header == fmt::format("header {}", i));
    CHECK_MESSAGE(message.payload == sent[i], "size ", sent[i].size());
  }
  CHECK(nodes[0]->net->traffic().messages_sent == sent.size());
  CHECK(nodes[1]->net->traffic().bytes_received == nodes[0]->net->traffic().bytes_sent);
}

TEST_CASE("gathered payloads; what exceeds the landing is dropped") {
  auto nodes = make_nodes(2, kFast);
  nodes[1]->sink.accept_at_most(200'000);
  const std::vector<char> data = pattern(300'000);
  std::vector<iovec> parts;
  for (std::size_t at = 0; at < data.size(); at += 7000)
    parts.push_back({const_cast<char*>(data.data()) + at, std::min<std::size_t>(7000, data.size() - at)});
  parts.insert(parts.begin() + 3, iovec{nullptr, 0});
  Done done;
  REQUIRE(nodes[0]->net->send(1, 1, {}, parts, &done) != Post::kNoResource);
  REQUIRE(drive(nodes, [&] { return nodes[1]->sink.received.size() == 1; }));
  CHECK(std::equal(data.begin(), data.begin() + 200'000, nodes[1]->sink.received[0].payload.begin()));
}

TEST_CASE("back-pressure: no resource, then progress, and nothing is lost") {
  auto nodes = make_nodes(2, kFast);
  const std::vector<char> data = pattern(10'000);
  int sent = 0;
  while (nodes[0]->send(1, "", data) == Post::kDone) ++sent;
  CHECK(sent > 1000);  // 32 MiB
  CHECK(sent < 10'000);
  CHECK(nodes[0]->send(1, "", data) == Post::kNoResource);
  REQUIRE(drive(nodes, [&] { return static_cast<int>(nodes[1]->sink.received.size()) == sent; }));
  for (int i = 0; i < 10; ++i) nodes[0]->net->poll();
  CHECK(nodes[0]->send(1, "", data) == Post::kDone);
  REQUIRE(drive(nodes, [&] { return static_cast<int>(nodes[1]->sink.received.size()) == sent + 1; }));
}

TEST_CASE("a node that waits for room sleeps until there is some") {
  auto nodes = make_nodes(2, kFast);
  const std::vector<char> data = pattern(10'000);
  while (nodes[0]->send(1, "", data) == Post::kDone) {
  }
  while (nodes[0]->net->poll()) {
  }
  const Arming arming = nodes[0]->net->arm();
  REQUIRE_FALSE(arming.ready);
  pollfd watched{arming.fd, POLLIN, 0};
  CHECK(poll(&watched, 1, 0) == 0);
  for (int i = 0; i < 1000; ++i) nodes[1]->net->poll();
  CHECK(poll(&watched, 1, 1000) == 1);
  CHECK(nodes[0]->net->poll());
  CHECK(nodes[0]->send(1, "", data) == Post::kDone);
}

TEST_CASE("random delays keep the order") {
  auto nodes = make_nodes(2, "latency=10us,bandwidth=10GB/s,jitter=1ms,seed=3");
  for (int i = 0; i < 100; ++i) REQUIRE(nodes[0]->send(1, std::to_string(i), {}) == Post::kDone);
  REQUIRE(drive(nodes, [&] { return nodes[1]->sink.received.size() == 100; }));
  for (int i = 0; i < 100; ++i)
    CHECK(nodes[1]->sink.received[static_cast<std::size_t>(i)].header == std::to_string(i));
}

TEST_CASE("memory that is not exposed cannot be read") {
  auto nodes = make_nodes(2, "latency=10us,bandwidth=1GB/s");
  if (!nodes[0]->net->limits().can_get) {
    MESSAGE(nodes[0]->net->describe());
    return;
  }
  std::vector<char> source(100), target(100);
  const Result<RemoteKey> key = nodes[1]->net->expose(0, source.data(), source.size());
  REQUIRE(static_cast<bool>(key));
  nodes[1]->net->conceal(*key);
  Done done;
  nodes[0]->net->get(1, *key, reinterpret_cast<std::uint64_t>(source.data()), target.data(), 8, &done);
  REQUIRE(drive(nodes, [&] { return !nodes[0]->sink.lost_peers.empty(); }));
  CHECK(done.time == 0);
  CHECK(nodes[0]->sink.reason == "memory was to be read that it does not expose");
}

TEST_CASE("a message that comes while a node sleeps wakes it") {
  auto nodes = make_nodes(2, "latency=10us,bandwidth=1GB/s");
  while (nodes[1]->net->poll()) {
  }
  const Arming arming = nodes[1]->net->arm();
  REQUIRE_FALSE(arming.ready);
  CHECK(arming.nanoseconds == 0);  // nothing is under way
  std::thread sender([&] {
    usleep(10'000);  // the other one sleeps by now, or is about to
    CHECK(nodes[0]->send(1, "", {}) == Post::kDone);
  });
  pollfd watched{arming.fd, POLLIN, 0};
  CHECK(poll(&watched, 1, static_cast<int>(kHang / 1'000'000)) == 1);
  sender.join();
  CHECK(drive(nodes, [&] { return nodes[1]->sink.received.size() == 1; }));
}

TEST_CASE("what comes after a node wakes up anyway does not wake it; what comes sooner does") {
  auto nodes = make_nodes(2, "latency=100s,bandwidth=1GB/s");
  REQUIRE(nodes[0]->send(1, "", {}) == Post::kDone);
  while (nodes[1]->net->poll()) {
  }
  const Arming arming = nodes[1]->net->arm();
  REQUIRE_FALSE(arming.ready);
  REQUIRE(arming.nanoseconds > 0);  // until the first one is there
  pollfd watched{arming.fd, POLLIN, 0};
  REQUIRE(nodes[0]->send(1, "", {}) == Post::kDone);
  CHECK(poll(&watched, 1, 0) == 0);
  // One that has left is told at once.
  nodes[0]->net->close(0);
  CHECK(poll(&watched, 1, 0) == 1);
}

TEST_CASE("who is patient wakes up when half of the next piece has passed, or something small is there") {
  auto nodes = make_nodes(2, "latency=0s,bandwidth=1kB/s");
  const std::vector<char> data(100'000);  // 100 s
  Done done[2];
  const auto seconds = [&](int node, bool patient) {
    Transport& net = *nodes[static_cast<std::size_t>(node)]->net;
    while (net.poll()) {
    }
    const Arming arming = net.arm(patient);
    REQUIRE_FALSE(arming.ready);
    return static_cast<double>(arming.nanoseconds) * 1e-9;
  };
  const auto about = [](double value) { return doctest::Approx(value).epsilon(0.1); };
  REQUIRE(nodes[0]->send(1, "", data, &done[0]) == Post::kInProgress);
  CHECK(seconds(0, true) == about(100));  // nothing follows
  CHECK(seconds(1, false) == about(100));
  CHECK(seconds(1, true) == about(150));
  SUBCASE("another large one") {
    REQUIRE(nodes[0]->send(1, "", data, &done[1]) == Post::kInProgress);
    CHECK(seconds(0, false) == about(100));
    CHECK(seconds(0, true) == about(150));
    CHECK(seconds(1, true) == about(150));
  }
  SUBCASE("a small one") {
    REQUIRE(nodes[0]->send(1, "a step of a protocol", {}) == Post::kDone);
    CHECK(seconds(1, true) == about(100));
  }
}

TEST_CASE("a send that completes later wakes whoever went to sleep before it") {
  auto nodes = make_nodes(2, "latency=0s,bandwidth=1kB/s");
  const std::vector<char> data(100'000);  // 100 s, which nobody waits for
  while (nodes[0]->net->poll()) {
  }
  const Arming arming = nodes[0]->net->arm();
  REQUIRE_FALSE(arming.ready);
  Done done;
  REQUIRE(nodes[0]->send(1, "", data, &done) == Post::kInProgress);
  pollfd watched{arming.fd, POLLIN, 0};
  CHECK(poll(&watched, 1, 0) == 1);
}

TEST_CASE("closing: everything arrives, nobody is lost; leaving without closing: lost") {
  auto nodes = make_nodes(3, "latency=1ms,bandwidth=20MB/s");
  const std::vector<char> data = pattern(1'000'000);  // 50 ms
  Done done;
  const Post post = nodes[0]->send(1, "last", data, &done);
  REQUIRE(post != Post::kNoResource);
  CHECK(nodes[0]->net->close(kHangSeconds));
  CHECK((post == Post::kDone || done.time != 0));  // who is held up until all has left is done at once
  nodes[0].reset();
  nodes.erase(nodes.begin());
  Recorder& sink = nodes[0]->sink;
  REQUIRE(drive(nodes, [&] { return sink.received.size() == 1; }));
  CHECK(sink.received[0].payload == data);
  CHECK(nodes[0]->send(0, "", data) == Post::kDone);  // dropped
  CHECK(sink.lost_peers.empty());
  REQUIRE(nodes[1]->send(1, "", {}) == Post::kDone);
  REQUIRE(drive(nodes, [&] { return sink.received.size() == 2; }));
  nodes.pop_back();
  REQUIRE(drive(nodes, [&] { return !sink.lost_peers.empty(); }));
  CHECK(sink.lost_peers == std::vector{2});
}

TEST_CASE("closing sends what has found no room yet") {
  auto nodes = make_nodes(2, kFast);
  const std::vector<char> data(40'000'000);  // more than has room
  Done done;
  REQUIRE(nodes[0]->send(1, "", data, &done) == Post::kInProgress);
  std::thread receiver(
      [&] { CHECK(wait_for(*nodes[1], [&] { return nodes[1]->sink.received.size() == 1; })); });
  CHECK(nodes[0]->net->close(kHangSeconds));
  CHECK(done.time != 0);
  receiver.join();
  CHECK(nodes[1]->sink.lost_peers.empty());
}

// A node in a process of its own: tells its address through one pipe, learns the other's through another,
// sends a message and waits to be killed.
[[noreturn]] void be_killed(int to_parent, int from_parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Node node;
  Options options;
  options.node = 1;
  options.nodes = 2;
  auto made = Sim::make("latency=1us,bandwidth=1GB/s", options, node.sink);
  if (!made) _exit(1);
  node.net = std::move(*made);
  char other[256] = {};
  const std::string& own = node.net->address();
  if (write(to_parent, own.c_str(), own.size() + 1) < 0 || read(from_parent, other, sizeof other - 1) < 0)
    _exit(2);
  if (!node.net->set_peers({{other, "here"}, {own, "here"}})) _exit(3);
  node.send(0, "from another process", {});
  for (;;) {
    if (!node.net->poll()) node.sleep_once();
  }
}

TEST_CASE("a process that is killed is lost, and wakes whoever sleeps, after what it had sent") {
  int up[2], down[2];
  REQUIRE(pipe(up) == 0);
  REQUIRE(pipe(down) == 0);
  const pid_t child = fork();
  if (child == 0) be_killed(up[1], down[0]);
  Nodes nodes(1);
  nodes[0] = std::make_unique<Node>();
  Options options;
  options.nodes = 2;
  auto made = Sim::make("latency=1us,bandwidth=1GB/s", options, nodes[0]->sink);
  REQUIRE(static_cast<bool>(made));
  nodes[0]->net = std::move(*made);
  char other[256] = {};
  REQUIRE(read(up[0], other, sizeof other - 1) > 0);
  const std::string& own = nodes[0]->net->address();
  REQUIRE(write(down[1], own.c_str(), own.size() + 1) > 0);
  REQUIRE(static_cast<bool>(nodes[0]->net->set_peers({{own, "here"}, {other, "here"}})));
  Recorder& sink = nodes[0]->sink;
  REQUIRE(drive(nodes, [&] { return sink.received.size() == 1; }));
  CHECK(sink.received[0].header == "from another process");
  CHECK(sink.lost_peers.empty());
  kill(child, SIGKILL);
  const Nanoseconds killed = now();
  CHECK(wait_for(*nodes[0], [&] { return !sink.lost_peers.empty(); }));
  CHECK(now() - killed < kHang / 2);
  CHECK(sink.lost_peers == std::vector{1});
  CHECK(sink.reason == fmt::format("its process {} has ended", child));
  CHECK(nodes[0]->send(1, "", {}) == Post::kDone);  // dropped
  waitpid(child, nullptr, 0);
  for (const int fd : {up[0], up[1], down[0], down[1]}) ::close(fd);
}

TEST_CASE("addresses of something else are refused") {
  Recorder sink;
  Options options;
  options.nodes = 2;
  auto made = Sim::make("", options, sink);
  REQUIRE(static_cast<bool>(made));
  CHECK_FALSE(static_cast<bool>((*made)->set_peers({{(*made)->address(), "a"}, {"192.168.0.1:4711", "b"}})));
  CHECK_FALSE(static_cast<bool>((*made)->set_peers({{(*made)->address(), "a"}})));
  options.same_machine = false;
  CHECK_FALSE(static_cast<bool>(Sim::make("", options, sink)));
}

}  // namespace
}  // namespace tmpi::net::sim::test
