#include "launch/launcher/quiescence_rounds.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <random>

namespace tmpi::launch {
namespace {

using Verdict = QuiescenceRounds::Verdict;

TEST_CASE("two rounds at the same counts") {
  QuiescenceRounds rounds(2);
  CHECK_FALSE(rounds.became_quiescent(0, {3, 1}));
  CHECK(rounds.became_quiescent(1, {1, 3}));
  CHECK(rounds.answer(1, true, {1, 3}) == Verdict::kWait);
  CHECK(rounds.answer(0, true, {3, 1}) == Verdict::kDeadlock);
}

TEST_CASE("a message on its way") {
  QuiescenceRounds rounds(2);
  CHECK_FALSE(rounds.became_quiescent(0, {3, 1}));
  CHECK_FALSE(rounds.became_quiescent(1, {1, 2}));
  CHECK(rounds.became_quiescent(1, {1, 3}));  // it has come
}

TEST_CASE("somebody moves between the rounds") {
  QuiescenceRounds rounds(2);
  rounds.became_quiescent(0, {3, 1});
  CHECK(rounds.became_quiescent(1, {1, 3}));
  CHECK(rounds.answer(0, false, {4, 1}) == Verdict::kWait);
  CHECK(rounds.answer(1, true, {1, 3}) == Verdict::kWait);
  CHECK_FALSE(rounds.became_quiescent(0, {4, 1}));
  CHECK(rounds.became_quiescent(1, {1, 4}));
}

TEST_CASE("somebody has moved and becomes quiescent again before it answers") {
  QuiescenceRounds rounds(2);
  rounds.became_quiescent(0, {3, 1});
  CHECK(rounds.became_quiescent(1, {1, 3}));
  CHECK_FALSE(rounds.became_quiescent(0, {3, 1}));
  CHECK(rounds.answer(0, true, {3, 1}) == Verdict::kWait);
  CHECK_FALSE(rounds.became_quiescent(1, {2, 4}));
  CHECK(rounds.answer(1, true, {2, 4}) == Verdict::kAskAgain);
  CHECK(rounds.answer(0, true, {3, 1}) == Verdict::kWait);
  CHECK(rounds.answer(1, true, {2, 4}) == Verdict::kDeadlock);
}

TEST_CASE("finished node processes are quiescent for good") {
  QuiescenceRounds rounds(3);
  rounds.finished(0, {5, 5});
  CHECK_FALSE(rounds.became_quiescent(1, {2, 0}));
  CHECK(rounds.became_quiescent(2, {0, 2}));
  CHECK(rounds.finished(1, {2, 0}) == false);  // instead of an answer
  CHECK(rounds.answer(2, true, {0, 2}) == Verdict::kAskAgain);
  CHECK(rounds.answer(2, true, {0, 2}) == Verdict::kDeadlock);
}

// Node processes that send each other a given number of messages over a network that delays, and that
// become quiescent when they have nothing to do.
struct World {
  struct Node {
    MessageCounts counts;
    MessageCounts said;
    bool quiescent = false;
    int to_send = 0;
    std::deque<int> questions;
  };
  std::vector<Node> nodes;
  std::deque<int> wire;  // receivers
  std::mt19937 random;

  bool busy() const {
    if (!wire.empty()) return true;
    for (const Node& node : nodes) {
      if (node.to_send > 0) return true;
    }
    return false;
  }
};

TEST_CASE("no verdict while anything moves, one when nothing does") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    World world;
    world.random.seed(seed);
    const int count = 2 + static_cast<int>(seed % 4);
    world.nodes.resize(static_cast<std::size_t>(count));
    for (auto& node : world.nodes) node.to_send = static_cast<int>(world.random() % 5);
    QuiescenceRounds rounds(count);
    const auto ask = [&] {
      for (int i = 0; i < count; ++i) world.nodes[static_cast<std::size_t>(i)].questions.push_back(1);
    };
    bool found = false;
    for (int step = 0; step < 20'000 && !found; ++step) {
      const int who = static_cast<int>(world.random() % static_cast<unsigned>(count));
      World::Node& node = world.nodes[static_cast<std::size_t>(who)];
      switch (world.random() % 4) {
        case 0:  // send
          if (node.to_send == 0) break;
          --node.to_send;
          ++node.counts.sent;
          node.quiescent = false;
          world.wire.push_back(static_cast<int>(world.random() % static_cast<unsigned>(count)));
          break;
        case 1: {  // a message arrives and may cause another one
          if (world.wire.empty()) break;
          World::Node& receiver = world.nodes[static_cast<std::size_t>(world.wire.front())];
          world.wire.pop_front();
          ++receiver.counts.received;
          receiver.quiescent = false;
          if (world.random() % 3 == 0) ++receiver.to_send;
          break;
        }
        case 2:  // become quiescent
          if (node.to_send > 0 || node.quiescent) break;
          node.quiescent = true;
          node.said = node.counts;
          if (rounds.became_quiescent(who, node.said)) ask();
          break;
        default:  // answer
          if (node.questions.empty()) break;
          node.questions.pop_front();
          const bool quiescent = node.quiescent && node.counts == node.said;
          const Verdict verdict = rounds.answer(who, quiescent, node.counts);
          if (verdict == Verdict::kAskAgain) ask();
          if (verdict == Verdict::kDeadlock) {
            REQUIRE_FALSE(world.busy());
            found = true;
          }
      }
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace tmpi::launch
