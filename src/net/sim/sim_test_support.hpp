// What the tests of sim share: nodes in this process, each with a sink that writes down what comes and when.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/sim/sim.hpp"

namespace tmpi::net::sim::test {

/// A test that waits so long for something waits in vain, on however busy a machine.
inline constexpr double kHangSeconds = 100;
inline constexpr Nanoseconds kHang = 100'000'000'000;

struct Received {
  int peer;
  std::uint8_t id;
  std::string header;
  std::vector<char> payload;
  Nanoseconds time;
};

class Recorder final : public Sink {
 public:
  Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override {
    auto message = std::make_unique<Received>();
    message->peer = peer;
    message->id = id;
    message->header.assign(reinterpret_cast<const char*>(header.data()), header.size());
    message->payload.resize(std::min(payload, most_));
    Received* token = message.release();
    return {token->payload.data(), token->payload.size(), token};
  }
  void landed(int, void* token) noexcept override {
    const std::unique_ptr<Received> message(static_cast<Received*>(token));
    message->time = now();
    received.push_back(std::move(*message));
  }
  void lost(int peer, const std::string& why) noexcept override {
    lost_peers.push_back(peer);
    reason = why;
  }
  void accept_at_most(std::size_t bytes) { most_ = bytes; }

  std::vector<Received> received;
  std::vector<int> lost_peers;
  std::string reason;

 private:
  std::size_t most_ = SIZE_MAX;
};

struct Done : Completion {
  Done() : Completion{[](Completion& self) noexcept { static_cast<Done&>(self).time = now(); }} {}
  Nanoseconds time = 0;
};

struct Node {
  Recorder sink;
  std::unique_ptr<Transport> net;

  Post send(int to, const std::string& header, std::span<const char> payload, Done* done = nullptr) {
    const iovec part{const_cast<char*>(payload.data()), payload.size()};
    return net->send(to, 7, std::as_bytes(std::span(header)), {&part, 1}, done);
  }
  /// What an idle worker does.
  void sleep_once() {
    const Arming arming = net->arm();
    if (arming.ready) return;
    pollfd watched{arming.fd, POLLIN, 0};
    const auto most = static_cast<Nanoseconds>(arming.nanoseconds);
    const Nanoseconds length = most == 0 ? kHang : std::min(most, kHang);
    const timespec time{length / 1'000'000'000, length % 1'000'000'000};
    ppoll(&watched, 1, &time, nullptr);
  }
};

/// What a worker does that waits: polls the node, asleep while nothing happens. False: in vain.
inline bool wait_for(Node& node, const std::function<bool()>& condition) {
  const Nanoseconds until = now() + kHang;
  while (!condition()) {
    if (now() > until) return false;
    if (!node.net->poll()) node.sleep_once();
  }
  return true;
}

using Nodes = std::vector<std::unique_ptr<Node>>;

inline Nodes make_nodes(int count, const std::string& settings) {
  Nodes nodes;
  std::vector<net::Peer> peers;
  for (int i = 0; i < count; ++i) {
    nodes.push_back(std::make_unique<Node>());
    Options options;
    options.node = i;
    options.nodes = count;
    auto made = Sim::make(settings, options, nodes.back()->sink);
    REQUIRE(static_cast<bool>(made));
    nodes.back()->net = std::move(*made);
    peers.push_back({nodes.back()->net->address(), "here"});
  }
  for (auto& node : nodes) REQUIRE(static_cast<bool>(node->net->set_peers(peers)));
  return nodes;
}

/// Polls all nodes until the condition holds; false if that takes so long that it never will.
inline bool drive(Nodes& nodes, const std::function<bool()>& condition) {
  const Nanoseconds until = now() + kHang;
  while (!condition()) {
    if (now() > until) return false;
    for (auto& node : nodes) node->net->poll();
  }
  return true;
}

}  // namespace tmpi::net::sim::test
