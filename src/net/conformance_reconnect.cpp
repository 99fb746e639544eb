// Conformance: connections with receive buffers of another size, while messages go on.
#include <array>
#include <deque>

#include "net/conformance_checks.hpp"
#include "net/conformance_stamp.hpp"

namespace tmpi::net::conformance {
namespace {

// The messages of the change itself (net/reconnection.hpp).
constexpr std::uint8_t kControl = 99;
enum class Step : std::uint64_t { kRequest, kReply, kAbandon, kConnect, kSwitched, kRetired };

struct Control {
  Step step{};
  std::uint64_t eager = 0;
  Endpoint endpoint;
};

// One end: sends on and on, and takes the steps as they come.
class End {
 public:
  End(Node& node, std::vector<std::size_t> sizes, int abandoned)
      : node_(node), change_(*node.net().reconnection()), sizes_(std::move(sizes)), abandoned_(abandoned) {}

  // Node 0 asks for one size after the other; its `abandoned` first changes are given up half way.
  void run() {
    if (node_.number() == 0) ask();
    std::size_t sent = 0;
    node_.until("the last change", [&] {
      // A few at a time, so that there are always some under way, of both sizes' ways and larger than any.
      for (int i = 0; i < 3 && sent < node_.received.size() + 100; ++i, ++sent)
        send_stamped(node_, other(), seed(node_.number()) + sent,
                     sent % 7 == 3 ? sent % 3 * 70'000 : sent * 97 % eager_);
      take_steps();
      return finished_;
    });
    // How many there were.
    node_.send(other(), kControl, to_header({~std::uint64_t{0}, sent}), {});
    node_.until("all messages", [&] {
      take_steps();
      return expected_ != ~std::size_t{0} && node_.received.size() >= expected_ && node_.in_progress() == 0;
    });
    check_in_order(node_, other(), seed(other()), expected_);
    CHECK(node_.lost_peers.empty());
  }
  std::size_t rounds() const { return round_; }

 private:
  int other() const { return 1 - node_.number(); }
  static std::uint64_t seed(int node) { return static_cast<std::uint64_t>(node + 1) << 32; }

  void post(Step step, std::uint64_t eager, const Endpoint& endpoint = {}) {
    Bytes header(16 + sizeof endpoint.bytes);
    const std::array<std::uint64_t, 2> words{static_cast<std::uint64_t>(step), eager};
    std::memcpy(header.data(), words.data(), 16);
    std::memcpy(header.data() + 16, endpoint.bytes.data(), sizeof endpoint.bytes);
    node_.send(other(), kControl, header, {});
  }
  void ask() { post(Step::kRequest, sizes_[round_ % sizes_.size()]); }
  void leave_old() {
    post(Step::kSwitched, 0);
    change_.send_by_new(other());
    eager_ = next_;
  }

  // What has come for the protocol, out of what has been received.
  void take_steps() {
    while (looked_at_ < node_.received.size()) {
      const std::size_t i = looked_at_;
      if (node_.received[i]->id != kControl || !node_.received[i]->payload.empty() ||
          !is_control(*node_.received[i])) {
        ++looked_at_;
        continue;
      }
      const auto message = std::move(node_.received[i]);
      node_.received.erase(node_.received.begin() + static_cast<std::ptrdiff_t>(i));
      take(*message);
    }
  }
  static bool is_control(const Message& message) {
    return message.header.size() > sizeof(Stamp) || stamp_of(message).seed == ~std::uint64_t{0};
  }

  void take(const Message& message) {
    if (message.header.size() == sizeof(Stamp)) {
      expected_ = stamp_of(message).size;
      finished_ = true;  // node 0 is done with its changes
      return;
    }
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), message.header.data(), 16);
    Endpoint theirs, mine;
    std::memcpy(theirs.bytes.data(), message.header.data() + 16, sizeof theirs.bytes);
    switch (static_cast<Step>(words[0])) {
      case Step::kRequest:
        next_ = words[1];
        CHECK(change_.prepare(other(), next_, mine));
        return post(Step::kReply, next_, mine);
      case Step::kReply:
        next_ = words[1];
        CHECK(change_.prepare(other(), next_, mine));
        if (static_cast<int>(round_) < abandoned_) {
          change_.drop_new(other());
          post(Step::kAbandon, 0);
          return next_round();
        }
        CHECK(change_.connect(other(), theirs));
        return post(Step::kConnect, next_, mine);
      case Step::kAbandon:
        return change_.drop_new(other());
      case Step::kConnect:
        CHECK(change_.connect(other(), theirs));
        return leave_old();
      case Step::kSwitched:
        change_.receive_by_new(other());
        if (node_.number() == 0) return leave_old();
        change_.retire_old(other());
        return post(Step::kRetired, 0);
      case Step::kRetired:
        change_.retire_old(other());
        return next_round();
    }
  }
  void next_round() {
    if (++round_ < sizes_.size())
      ask();
    else
      finished_ = true;
  }

  Node& node_;
  Reconnection& change_;
  std::vector<std::size_t> sizes_;
  const int abandoned_;
  std::size_t round_ = 0;
  std::size_t eager_ = 1000, next_ = 1000;
  bool finished_ = false;
  std::size_t looked_at_ = 0;  // of node_.received
  std::size_t expected_ = ~std::size_t{0};
};

}  // namespace

void reconnects(const Subject& subject) {
  run_nodes(subject, 2, [](Node& node) {
    if (node.net().reconnection() == nullptr) return;
    End end(node, {66'560, 17'000, 263'168, 66'560, 9'000, 132'096, 33'792, 1'049'600, 17'000}, 2);
    end.run();
    CHECK((node.number() == 1 || end.rounds() == 9));
    // Whatever there was meanwhile: two sizes at most are connected, and none is left for ever.
    CHECK(node.net().receive_buffers().bytes > 0);
    CHECK(node.net().receive_buffers().most_bytes >= 1'049'600);
  });
}

// Each end leaves in the middle of a change, after each step, without a word and by close().
void closes_while_reconnecting(const Subject& subject) {
  for (int steps = 0; steps < 4; ++steps) {
    run_nodes(subject, 2, [steps](Node& node) {
      Reconnection* const change = node.net().reconnection();
      if (change == nullptr) return;
      const int other = 1 - node.number();
      send_stamped(node, other, 1, 100);
      node.until("a message", [&] { return !node.received.empty(); });
      Endpoint mine;
      if (steps > 0) CHECK(change->prepare(other, 66'560, mine));
      if (steps == 2) change->drop_new(other);
      if (steps > 1) CHECK(change->prepare(other, 33'792, mine) == (steps == 2));
      send_stamped(node, other, 2, 10'000);
      node.until("another one", [&] { return node.received.size() == 2 && node.in_progress() == 0; });
      CHECK(is_intact(*node.received[1]));
    });
  }
}

}  // namespace tmpi::net::conformance
