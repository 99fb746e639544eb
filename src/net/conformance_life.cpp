// Conformance: connections, sleeping, closing, dying.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "net/conformance_checks.hpp"
#include "net/conformance_stamp.hpp"

namespace tmpi::net::conformance {

void survives_races(const Subject& subject) {
  constexpr int kRounds = 16;  // each choice of those of four who wait
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> ready{0};
    run_nodes(subject, 4, [&](Node& node) {
      // All begin as close together as can be; some wait a little, for other interleavings.
      ready.fetch_add(1);
      while (ready.load() < node.nodes()) std::this_thread::yield();
      if ((round >> node.number() & 1) != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
      for (std::uint64_t i = 0; i < 6; ++i)
        for (int to = 0; to < node.nodes(); ++to)
          if (to != node.number()) send_stamped(node, to, i, i == 1 ? 150'000 : i * 100);
      node.until("all messages", [&] { return node.received.size() == 6u * 3 && node.in_progress() == 0; });
      for (int from = 0; from < node.nodes(); ++from)
        if (from != node.number()) check_in_order(node, from, 0, 6);
      CHECK(node.lost_peers.empty());
    });
  }
}

void connects_lazily(const Subject& subject) {
  std::atomic<bool> gone{false};
  run_nodes(subject, 3, [&](Node& node) {
    if (node.number() == 2) {
      CHECK(node.net().close(1));  // nobody has ever spoken to this one
      node.destroy();
      gone = true;
      return;
    }
    while (!gone) std::this_thread::sleep_for(std::chrono::microseconds(100));
    for (std::uint64_t i = 0; i < 10; ++i) send_stamped(node, 1 - node.number(), i, 10);
    node.until("all messages", [&] { return node.received.size() == 10; });
    CHECK(node.lost_peers.empty());
  });
}

void closes_while_busy(const Subject& subject) {
  constexpr std::size_t kMessages = 40;
  run_nodes(subject, 2, [](Node& node) {
    if (node.number() == 0) {
      for (std::uint64_t i = 0; i < kMessages; ++i) send_stamped(node, 1, i, i % 4 == 3 ? 500'000 : 1000);
      CHECK_MESSAGE(node.net().close(node.subject().patience), "not everything has been sent");
      CHECK(node.in_progress() == 0);
      node.destroy();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      node.until("all messages", [&] { return node.received.size() == kMessages; });
      check_in_order(node, 0, 0, kMessages);
      for (int i = 0; i < 100; ++i) {
        node.net().poll();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      CHECK(node.lost_peers.empty());
      node.destroy();  // the other one has gone
    }
  });
}

void forgets_who_closes(const Subject& subject) {
  std::atomic<bool> gone{false};
  run_nodes(subject, 3, [&](Node& node) {
    const auto enough = [&] { return node.of(0).size() >= 10 && node.of(1).size() >= 10; };
    if (node.number() == 2) {
      node.until("some messages", enough);
      CHECK(node.net().close(node.subject().patience));
      node.destroy();
      gone = true;
      return;
    }
    // Goes on sending to the one that closes, in the middle of it and afterwards. What has not arrived by
    // then is dropped, but every buffer comes back.
    std::size_t sent = 0;
    for (int afterwards = 0; afterwards < 200; afterwards += gone ? 1 : 0) {
      node.try_send(2, 0, to_header({0, 0}), {});
      node.try_send(2, 0, to_header({0, 100'000}), pattern(0, 100'000));
      node.net().poll();
      if (++sent % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    node.until("completions", [&] { return node.in_progress() == 0; });
    for (const auto& [peer, why] : node.lost_peers) FAIL_CHECK("node " << peer << " is lost: " << why);
    send_stamped(node, 1 - node.number(), 5, 5);
    node.until("a message of who is left", [&] { return !node.of(1 - node.number()).empty(); });
  });
}

void wakes_sleepers(const Subject& subject) {
  run_nodes(subject, 2, [](Node& node) {
    const int other = 1 - node.number();
    // Ping-pong in which both sides sleep.
    constexpr std::uint64_t kRounds = 300;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      if (node.number() == 0) send_stamped(node, other, round, round % 60 == 59 ? 3'000'000 : 8);
      if (!node.asleep_until("a message",
                             [&] { return node.received.size() > round && node.in_progress() == 0; }))
        return;
      if (node.number() == 1) send_stamped(node, other, round, round % 60 == 59 ? 3'000'000 : 8);
    }
    node.asleep_until("the last completion", [&] { return node.in_progress() == 0; });
    check_in_order(node, other, 0, kRounds);
    // While nothing happens nobody wakes up (save to look after things now and then).
    if (node.number() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      send_stamped(node, other, kRounds, 1);
    } else {
      int wake_ups = 0;
      const double start = seconds_now();
      node.asleep_until(
          "the late message", [&] { return node.received.size() > kRounds; }, &wake_ups);
      const double most = 25 + node.subject().wake_ups * (seconds_now() - start);
      CHECK_MESSAGE(wake_ups < most, "awake " << wake_ups << " times while nothing happened");
    }
  });
}

namespace {

// Exit codes of the forked nodes.
constexpr int kFine = 0, kNotTold = 10, kToldTwice = 11, kWrongPeer = 12, kLate = 13, kDisturbed = 14,
              kNoTraffic = 15;

// `limit`: seconds in which it wants to be told.
int survivor(Node& node, double limit) {
  const int other = 1 - node.number();
  node.send(2, 1, to_header({1, 4}), pattern(1, 4));
  node.send(other, 1, to_header({1, 4}), pattern(1, 4));
  double died = 0;
  // The victim says when it dies; and there is always something on the way to it.
  node.until("the victim's last message", [&] { return !node.of(2).empty(); });
  died = seconds_now();
  if (!node.of(2).empty()) node.send(2, 1, to_header({1, 300'000}), pattern(1, 300'000));
  while (node.lost_peers.empty() && seconds_now() < died + node.subject().patience) node.net().poll();
  if (node.lost_peers.empty()) return kNotTold;
  if (seconds_now() > died + limit) return kLate;
  if (node.lost_peers[0].first != 2 || node.lost_peers[0].second.empty()) return kWrongPeer;
  const double until = seconds_now() + 0.2;
  while (seconds_now() < until) {
    node.try_send(2, 1, to_header({1, 10}), pattern(1, 10));
    node.try_send(2, 1, to_header({1, 100'000}), pattern(1, 100'000));
    node.net().poll();
  }
  if (node.lost_peers.size() != 1) return kToldTwice;
  if (!node.until("completions", [&] { return node.in_progress() == 0; })) return kDisturbed;
  for (std::uint64_t i = 2; i < 100; ++i) send_stamped(node, other, i, i * 100);
  if (!node.until("messages among survivors", [&] { return node.of(other).size() == 99; })) return kNoTraffic;
  node.net().close(node.subject().patience);
  return kFine;
}

void check_death(const Subject& subject, double limit) {
  const std::vector<int> statuses = fork_nodes(subject, 3, [&](Node& node) {
    if (node.number() != 2) return survivor(node, limit);
    node.until("messages", [&] { return !node.of(0).empty() && !node.of(1).empty(); });
    for (int to = 0; to < 2; ++to) node.send(to, 1, to_header({1, 0}), {});
    node.until("the way out", [&] { return node.net().idle(); });
    raise(SIGKILL);
    return kDisturbed;
  });
  for (std::size_t node = 0; node < 2; ++node) {
    CAPTURE(node);
    REQUIRE(WIFEXITED(statuses[node]));
    CHECK(WEXITSTATUS(statuses[node]) == kFine);
  }
  CHECK(WIFSIGNALED(statuses[2]));
}

}  // namespace

void notices_death(const Subject& subject) {
  check_death(subject, subject.patience);
}

void check_death_is_noticed_soon(const Subject& subject) {
  check_death(subject, 1);
}

}  // namespace tmpi::net::conformance
