// A node process without free file descriptors: it waits for some, asleep if there is nothing else to do, and
// says what is missing when none come.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <functional>
#include <memory>
#include <vector>

#include "net/conformance_node.hpp"
#include "net/conformance_stamp.hpp"
#include "net/proof.hpp"
#include "net/tcp/socket.hpp"

namespace tmpi::net::tcp {
namespace {

using namespace conformance;

const Subject kSubject{"tcp"};

// This process can open `spare` files more, until the end of the scope or release().
class Shortage {
 public:
  explicit Shortage(std::size_t spare) {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit small{kFiles, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &small) == 0);
    for (;;) {
      Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!fd) break;
      taken_.push_back(std::move(fd));
    }
    REQUIRE(taken_.size() > spare);
    taken_.resize(taken_.size() - spare);
  }
  ~Shortage() { release(); }
  void release() {
    taken_.clear();
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  static constexpr rlim_t kFiles = 200;
  rlimit before_{};
  std::vector<Fd> taken_;
};

// Two nodes, polled by this thread.
struct Pair {
  std::vector<std::unique_ptr<Node>> nodes;

  Pair() {
    REQUIRE(prepare_proofs());
    Secret secret;
    secret.bytes.fill(0x2a);
    std::vector<Peer> peers;
    for (int i = 0; i < 2; ++i) {
      nodes.push_back(std::make_unique<Node>(kSubject, i, 2, 4712, secret));
      peers.push_back({nodes.back()->net().address(), "host" + std::to_string(i)});
    }
    for (auto& node : nodes) REQUIRE(node->net().set_peers(peers));
  }
  bool drive(const std::function<bool()>& condition, double seconds = kSubject.patience) {
    return poll_until(nodes, condition, seconds);
  }
  void begin_to_talk() {
    REQUIRE(nodes[0]->try_send(1, 1, to_header({1, 1000}), pattern(1, 1000)) != Post::kNoResource);
  }
  void check_arrives() {
    REQUIRE(drive([&] { return nodes[1]->received.size() == 1; }));
    CHECK(is_intact(*nodes[1]->received.front()));
    for (auto& node : nodes) CHECK(node->lost_peers.empty());
  }
  // Whoever has nothing else to do sleeps between two attempts. (One may be due this very moment.)
  void check_does_not_spin(std::size_t number) {
    Arming arming;
    REQUIRE(drive([&] {
      arming = nodes[number]->net().arm();
      return !arming.ready;
    }));
    CHECK(arming.nanoseconds > 0);
    CHECK(arming.nanoseconds <= 1'000'000'000);
    pollfd watched{arming.fd, POLLIN, 0};
    CHECK(poll(&watched, 1, 0) == 0);
  }
};

TEST_CASE("who has no descriptor to connect with tries again") {
  Pair pair;
  Shortage shortage(0);
  pair.begin_to_talk();
  pair.drive([] { return false; }, 0.2);
  pair.check_does_not_spin(0);
  CHECK(pair.nodes[0]->lost_peers.empty());
  shortage.release();
  pair.check_arrives();
}

TEST_CASE("who has no descriptor to let somebody in does so later, and does not spin") {
  Pair pair;
  Shortage shortage(1);
  pair.begin_to_talk();  // takes the one
  pair.drive([] { return false; }, 0.3);
  CHECK(pair.nodes[1]->received.empty());
  pair.check_does_not_spin(1);
  shortage.release();
  pair.check_arrives();
}

TEST_CASE("without descriptors for long, the peer is lost, with this reason") {
  Pair pair;
  Shortage shortage(0);
  pair.begin_to_talk();
  const double start = seconds_now();
  REQUIRE(pair.drive([&] { return !pair.nodes[0]->lost_peers.empty(); }));
  CHECK(seconds_now() - start > 1);
  const std::string why = pair.nodes[0]->lost_peers[0].second;
  INFO(why);
  CHECK(why.find("cannot connect to node 1 on host host1") != std::string::npos);
  CHECK(why.find("no free file descriptors: raise `ulimit -n`") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::net::tcp
