// The change of an eager limit, tried in every order: two ends, two connections in each direction, whatever either
// end may do next, and every message that may arrive next. What has been seen is not looked at again.
#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "mpi/remote/limit_switch.hpp"

using namespace tmpi::mpi::remote;
namespace net = tmpi::net;

namespace {

constexpr MPI_Count kBase = 16;

// What one end wants, and what it cannot do.
struct Wish {
  std::vector<MPI_Count> limits{};  // asked for one after the other, at any time
  int messages = 2;                 // sent at any time
  bool cannot_prepare = false;
  bool cannot_connect = false;
  MPI_Count own_limit = 0;
  bool may_lower = true;
};

struct Packet {
  bool data = false;
  int number = 0;      // of a datum
  MPI_Count size = 0;  // as large as the sender's limit allows
  SwitchStep step{};
  std::int64_t limit = 0;
  net::Endpoint endpoint{};
};

// A connection's end. Connections are counted; an end has its present one, and may have the next.
struct Connection {
  bool exists = false;
  bool connected = false;
  MPI_Count buffers = 0;
};

struct End {
  LimitSwitch change;
  MPI_Count limit = kBase;
  int current = 0;  // number of the connection
  std::array<Connection, 2> connections{{{true, true, kBase}, {}}};
  bool sends_by_new = false, receives_by_new = false;
  int sent = 0, received = 0;
  std::size_t asked = 0;
  std::array<std::deque<Packet>, 2> out{};  // by the connection's number, modulo 2

  Connection& next() { return connections[static_cast<std::size_t>(current + 1) % 2]; }
};

struct World {
  std::array<End, 2> ends{End{LimitSwitch(true)}, End{LimitSwitch(false)}};
};

class Explorer {
 public:
  Explorer(const Wish& first, const Wish& second) : wishes_{first, second} {}

  void run() {
    explore(World{});
    CHECK(ended > 0);
  }
  std::string problem;  // the first one
  std::size_t ended = 0;
  std::unordered_set<MPI_Count> limits;  // with which it can end

 private:
  class Ports final : public SwitchPorts {
   public:
    Ports(Explorer& explorer, World& world, std::size_t which)
        : explorer_(explorer),
          me_(world.ends[which]),
          other_(world.ends[1 - which]),
          wish_(explorer.wishes_[which]) {}

    void post(SwitchStep step, std::int64_t limit, const net::Endpoint& endpoint) override {
      push({.step = step, .limit = limit, .endpoint = endpoint});
      if (step != SwitchStep::kSwitched) return;
      explorer_.expect(me_.next().connected, "it sends by a connection that it has not connected");
      explorer_.expect(!me_.sends_by_new, "it says twice that it switches");
      me_.sends_by_new = true;
    }
    bool prepare(MPI_Count limit, net::Endpoint& mine) override {
      explorer_.expect(!me_.next().exists, "it prepares two connections");
      if (wish_.cannot_prepare) return false;
      me_.next() = {true, false, limit};
      mine.bytes[0] = static_cast<std::byte>(me_.current + 1);
      return true;
    }
    bool connect(const net::Endpoint& theirs) override {
      explorer_.expect(me_.next().exists && theirs.bytes[0] == static_cast<std::byte>(me_.current + 1),
                       "it connects what does not belong together");
      if (wish_.cannot_connect) return false;
      me_.next().connected = true;
      return true;
    }
    void receive_by_new() override { me_.receives_by_new = true; }
    void retire_old() override {
      const auto old = static_cast<std::size_t>(me_.current % 2);
      explorer_.expect(me_.sends_by_new && me_.receives_by_new, "it retires a connection that it uses");
      explorer_.expect(other_.current != me_.current || (me_.out[old].empty() && other_.out[old].empty()),
                       "it retires a connection with messages on it");
      me_.connections[old] = {};
      me_.sends_by_new = me_.receives_by_new = false;
      ++me_.current;
    }
    void drop_new() override {
      explorer_.expect(me_.next().exists && !me_.sends_by_new, "it drops a connection that it uses");
      me_.next() = {};
    }
    MPI_Count own_limit() override { return wish_.own_limit; }
    bool may_lower(MPI_Count) override { return wish_.may_lower; }
    void set_limit(MPI_Count limit) override { me_.limit = limit; }

    void push(const Packet& packet) {
      const int number = me_.current + (me_.sends_by_new ? 1 : 0);
      me_.out[static_cast<std::size_t>(number % 2)].push_back(packet);
    }

   private:
    Explorer& explorer_;
    End& me_;
    End& other_;
    const Wish& wish_;
  };

  void expect(bool fine, const char* what) {
    if (!fine && problem.empty()) problem = what;
  }

  // Everything that can be done next, each in a world of its own.
  void explore(World world) {
    std::vector<World> open{std::move(world)};
    while (!open.empty() && problem.empty()) {
      const World here = std::move(open.back());
      open.pop_back();
      if (!seen_.insert(key_of(here)).second) continue;
      bool moved = false;
      for (std::size_t which = 0; which < 2; ++which) moved |= moves_of(here, which, open);
      if (!moved) check_end(here);
    }
  }

  bool moves_of(const World& here, std::size_t which, std::vector<World>& open) {
    const End& me = here.ends[which];
    const Wish& wish = wishes_[which];
    bool moved = false;
    if (me.sent < wish.messages) {
      World next = here;
      Ports ports(*this, next, which);
      End& end = next.ends[which];
      ports.push({.data = true, .number = end.sent++, .size = end.limit});
      open.push_back(std::move(next));
      moved = true;
    }
    if (me.asked < wish.limits.size()) {
      World next = here;
      Ports ports(*this, next, which);
      End& end = next.ends[which];
      end.change.start(ports, end.limit,
                       wish.limits[end.asked++]);  // or it is not the time, and never will be
      open.push_back(std::move(next));
      moved = true;
    }
    const int last = me.current + (me.receives_by_new ? 1 : 0);
    for (int number = me.current; number <= last; ++number) moved |= deliver(here, which, number, open);
    return moved;
  }

  bool deliver(const World& here, std::size_t which, int number, std::vector<World>& open) {
    const auto slot = static_cast<std::size_t>(number % 2);
    if (here.ends[1 - which].out[slot].empty()) return false;
    World next = here;
    End& me = next.ends[which];
    std::deque<Packet>& queue = next.ends[1 - which].out[slot];
    const Packet packet = queue.front();
    queue.pop_front();
    expect(me.connections[slot].connected, "a message arrives by a connection that is not there");
    if (packet.data) {
      expect(packet.number == me.received++, "a message overtakes another one, or is lost");
      expect(packet.size <= me.connections[slot].buffers, "a message finds no buffer of its size");
    } else {
      Ports ports(*this, next, which);
      expect(me.change.on_message(ports, me.limit, packet.step, packet.limit, packet.endpoint),
             "a message of the protocol makes no sense to its receiver");
    }
    open.push_back(std::move(next));
    return true;
  }

  void check_end(const World& world) {
    ++ended;
    for (std::size_t which = 0; which < 2; ++which) {
      const End& end = world.ends[which];
      const End& other = world.ends[1 - which];
      expect(end.change.idle(), "it never ends");
      expect(end.out[0].empty() && end.out[1].empty(), "a message is never taken");
      expect(end.received == wishes_[1 - which].messages, "messages are lost");
      expect(end.current == other.current && end.limit == other.limit, "the ends do not agree");
      expect(!world.ends[which].connections[static_cast<std::size_t>(end.current + 1) % 2].exists,
             "a connection is left over");
      limits.insert(end.limit);
    }
  }

  static std::string key_of(const World& world) {
    std::string key;
    const auto put = [&key](auto value) {
      key.append(std::to_string(static_cast<long>(value))).push_back(' ');
    };
    for (const End& end : world.ends) {
      put(end.change.state());
      put(end.change.wanted());
      put(end.change.incapable(false) * 2 + end.change.incapable(true));
      put(end.limit);
      put(end.current);
      for (const Connection& connection : end.connections) {
        put(connection.exists * 2 + connection.connected);
        put(connection.buffers);
      }
      put(end.sends_by_new * 2 + end.receives_by_new);
      put(end.sent);
      put(end.received);
      put(end.asked);
      for (const auto& queue : end.out) {
        put(queue.size());
        for (const Packet& packet : queue) {
          put(packet.data ? 100 + packet.number : static_cast<int>(packet.step));
          put(packet.data ? packet.size : packet.limit);
        }
      }
    }
    return key;
  }

  std::array<Wish, 2> wishes_;
  std::unordered_set<std::string> seen_;
};

std::unordered_set<MPI_Count> outcomes(const Wish& first, const Wish& second) {
  Explorer explorer(first, second);
  explorer.run();
  CHECK_MESSAGE(explorer.problem.empty(), explorer.problem);
  return explorer.limits;
}

using Limits = std::unordered_set<MPI_Count>;

}  // namespace

TEST_CASE("one end asks, messages in both directions: every order ends with the new limit") {
  CHECK(outcomes({.limits = {64}, .messages = 3}, {.messages = 3}) == Limits{64});
  CHECK(outcomes({.messages = 3}, {.limits = {64}, .messages = 3}) == Limits{64});
}

TEST_CASE("the larger limit wins, whoever asks") {
  CHECK(outcomes({.limits = {64}}, {.own_limit = 128}) == Limits{128});
  CHECK(outcomes({.own_limit = 32}, {.limits = {64}}) == Limits{64});
}

TEST_CASE("both ends ask at once") {
  // If one begins late it asks for a smaller limit than there is, which nobody minds here. If it comes to ask while the
  // limit is being changed, it does not.
  CHECK(outcomes({.limits = {64}}, {.limits = {128}}) == Limits{64, 128});
  CHECK(outcomes({.limits = {64}}, {.limits = {64}}) == Limits{64});
  CHECK(outcomes({.limits = {128}, .may_lower = false}, {.limits = {64}, .may_lower = false}) ==
        Limits{64, 128});
}

TEST_CASE("one change after the other, and back, with large messages under way") {
  CHECK(outcomes({.limits = {64, kBase}, .messages = 3}, {.messages = 3}) == Limits{kBase, 64});
  CHECK(outcomes({.limits = {64, kBase}}, {.limits = {128}}).contains(128));
  CHECK(
      outcomes({.limits = {64, kBase, 64}, .messages = 1}, {.limits = {kBase}, .messages = 1}).contains(64));
}

TEST_CASE("a refusal at any point leaves everything as it was") {
  for (int which = 0; which < 2; ++which) {
    for (const bool prepare : {true, false}) {
      Wish asks{.limits = {64}, .messages = 3};
      Wish answers{.messages = 3};
      Wish& unable = which == 0 ? asks : answers;
      (prepare ? unable.cannot_prepare : unable.cannot_connect) = true;
      CHECK(outcomes(asks, answers) == Limits{kBase});
      CHECK(outcomes(answers, asks) == Limits{kBase});
      answers.limits = {32};
      CHECK(outcomes(asks, answers) == Limits{kBase});
      CHECK(outcomes(answers, asks) == Limits{kBase});
    }
  }
}

TEST_CASE("a peer that still uses the larger limit keeps it") {
  CHECK(outcomes({.limits = {64, kBase}, .messages = 1}, {.messages = 1, .may_lower = false}) == Limits{64});
}

TEST_CASE("who has refused is not asked again, and messages that make no sense are told from others") {
  struct Silent final : SwitchPorts {
    int posts = 0;
    bool able = true;
    void post(SwitchStep, std::int64_t, const net::Endpoint&) override { ++posts; }
    bool prepare(MPI_Count, net::Endpoint&) override { return able; }
    bool connect(const net::Endpoint&) override { return able; }
    void receive_by_new() override {}
    void retire_old() override {}
    void drop_new() override {}
    MPI_Count own_limit() override { return 0; }
    bool may_lower(MPI_Count) override { return true; }
    void set_limit(MPI_Count) override {}
  } ports;
  LimitSwitch change;
  CHECK(change.start(ports, kBase, 64));
  CHECK(change.on_message(ports, kBase, SwitchStep::kReply, kCannot, {}));
  CHECK(change.incapable(false));
  CHECK_FALSE(change.start(ports, kBase, 128));
  CHECK(ports.posts == 1);
  // It may be asked all the same, and asks for less.
  CHECK(change.on_message(ports, kBase, SwitchStep::kRequest, 64, {}));
  CHECK(change.state() == LimitSwitch::State::kOffered);
  CHECK(change.on_message(ports, kBase, SwitchStep::kAbandon, kCannot, {}));
  CHECK(change.start(ports, 64, kBase));

  LimitSwitch fresh;
  for (const SwitchStep step : {SwitchStep::kReply, SwitchStep::kAbandon, SwitchStep::kConnect,
                                SwitchStep::kSwitched, SwitchStep::kRetired, static_cast<SwitchStep>(77)})
    CHECK_FALSE(fresh.on_message(ports, kBase, step, 64, {}));
  CHECK_FALSE(fresh.on_message(ports, kBase, SwitchStep::kRequest, -1, {}));
  CHECK(fresh.start(ports, kBase, 64));
  CHECK_FALSE(fresh.on_message(ports, kBase, SwitchStep::kReply, 32, {}));  // less than was asked for
}
