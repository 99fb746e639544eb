// Hosts: network namespaces with an Ethernet cable (veth) between them, and a docker0 in each that all hosts
// have with the same address. Needs the right to make them (root); says so otherwise.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "net/conformance_node.hpp"
#include "net/conformance_stamp.hpp"

namespace tmpi::net::tcp {
namespace {

using namespace conformance;

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

// Two hosts and the cable between them.
class Hosts {
 public:
  explicit Hosts(bool six_only = false) {
    // Those of a test that was killed: the number in the name is its process.
    run("for name in $(ip netns list | grep -oE '^tmpi-[0-9]+-[01]'); do owner=${name#tmpi-}; "
        "kill -0 ${owner%-*} || ip netns del $name; done");
    for (int host = 0; host < 2; ++host)
      if (!run("ip netns add " + name(host))) return;
    ok_ = run(fmt::format("ip link add eth0 netns {} type veth peer name eth0 netns {}", name(0), name(1)));
    for (int host = 0; host < 2; ++host) {
      const std::string ip = fmt::format("ip -n {} ", name(host));
      ok_ = ok_ && run(ip + "link set lo up") && run(ip + "link set eth0 up") &&
            run(fmt::format("{}addr add fd7a::{}/64 dev eth0 nodad", ip, host + 1)) &&
            (six_only || run(fmt::format("{}addr add 10.77.0.{}/24 dev eth0", ip, host + 1)));
      // A trap where the kernel has the device: every host is 172.17.0.1 there.
      if (run(ip + "link add docker0 type bridge") || run(ip + "link add docker0 type dummy"))
        ok_ = ok_ && run(ip + "addr add 172.17.0.1/16 dev docker0") && run(ip + "link set docker0 up");
    }
    ok_ = ok_ && await_cable();
  }
  ~Hosts() {
    for (int host = 0; host < 2; ++host) run("ip netns del " + name(host));
  }
  // False: not permitted here, and the test has said so.
  bool usable() const {
    if (!ok_) MESSAGE("skipped: `ip netns` or veth is not permitted here (needs root)");
    return ok_;
  }
  std::string name(int host) const { return fmt::format("tmpi-{}-{}", getpid_, host); }
  // The cable is plugged in a moment after both ends are up.
  bool await_cable() const {
    for (int i = 0; i < 3000; ++i) {
      if (run("ip -n " + name(0) + " link show eth0 | grep -q LOWER_UP")) return true;
      usleep(10'000);
    }
    return false;
  }
  bool pull_the_plug() const { return run("ip -n " + name(0) + " link set eth0 down"); }

  // What a node of the conformance suite does first: moves to its host.
  Subject subject(std::string spec) const {
    Subject subject{std::move(spec)};
    subject.same_machine = false;
    subject.enter = [this](int node) {
      const int fd = open(("/run/netns/" + name(node % 2)).c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) throw std::runtime_error("setns");
      close(fd);
    };
    return subject;
  }

 private:
  bool ok_ = false;
  pid_t getpid_ = getpid();  // a forked node must not think up names of its own
};

// Exit codes of the nodes.
constexpr int kFine = 0, kWrongAddress = 10, kNoTraffic = 11, kSurprise = 12, kNotNoticed = 13,
              kWrongReason = 14;

void check_all_fine(const std::vector<int>& statuses) {
  for (std::size_t node = 0; node < statuses.size(); ++node) {
    CAPTURE(node);
    REQUIRE(WIFEXITED(statuses[node]));
    CHECK(WEXITSTATUS(statuses[node]) == kFine);
  }
}

// All to all, small and large.
int exchange(Node& node) {
  for (std::uint64_t i = 0; i < 30; ++i)
    for (int to = 0; to < node.nodes(); ++to)
      if (to != node.number()) send_stamped(node, to, i, i % 10 == 9 ? 2'000'000 : i * 40);
  const std::size_t expected = 30 * static_cast<std::size_t>(node.nodes() - 1);
  if (!node.until("messages of the other hosts",
                  [&] { return node.received.size() >= expected && node.in_progress() == 0; }))
    return kNoTraffic;
  for (const auto& message : node.received)
    if (!is_intact(*message)) return kNoTraffic;
  return node.lost_peers.empty() ? kFine : kSurprise;
}

TEST_CASE("hosts talk over the cable, not over what every host has for itself") {
  const Hosts hosts;
  if (!hosts.usable()) return;
  for (const std::string spec :
       {"tcp", "tcp:interface=eth0", "tcp:interface=10.77.0.0/16", "tcp:interface=fd7a::/16"}) {
    CAPTURE(spec);
    check_all_fine(fork_nodes(hosts.subject(spec), 4, [&](Node& node) {
      const std::string description = node.net().describe();
      if (description.find("eth0") == std::string::npos || description.find("docker0") != std::string::npos ||
          description.find("lo ") != std::string::npos)
        return kWrongAddress;
      if (spec.ends_with("fd7a::/16") != (description.find("10.77.") == std::string::npos))
        return kWrongAddress;
      const int result = exchange(node);
      node.net().close(node.subject().patience);
      return result;
    }));
  }
}

TEST_CASE("hosts that have IPv6 only") {
  const Hosts hosts(true);
  if (!hosts.usable()) return;
  check_all_fine(fork_nodes(hosts.subject("tcp"), 3, [](Node& node) {
    const int result = exchange(node);
    node.net().close(node.subject().patience);
    return result;
  }));
}

// Waits until the other host is lost, and judges the reason. Once the plug is out that takes 5 s; left to
// itself the kernel would need a quarter of an hour.
int notices(Node& node, bool keep_sending) {
  const double limit = seconds_now() + 60;
  while (node.lost_peers.empty() && seconds_now() < limit) {
    if (keep_sending) node.try_send(1 - node.number(), 1, to_header({1, 5000}), pattern(1, 5000));
    node.net().poll();
    usleep(1000);
  }
  if (node.lost_peers.empty()) return kNotNoticed;
  return node.lost_peers[0].second.find("host") != std::string::npos ? kFine : kWrongReason;
}

TEST_CASE("a network that fails is noticed, whether something is sent or not") {
  const Hosts hosts;
  if (!hosts.usable()) return;
  for (const bool keep_sending : {false, true}) {
    CAPTURE(keep_sending);
    check_all_fine(fork_nodes(hosts.subject("tcp"), 2, [&](Node& node) {
      if (const int result = exchange(node); result != kFine) return result;
      // Not before the other one has got everything, too.
      if (node.number() == 1) send_stamped(node, 0, 99, 0);
      if (node.number() == 0) {
        node.until("the other host's end", [&] { return node.received.size() >= 31; });
        if (!hosts.pull_the_plug()) return kSurprise;
      }
      return notices(node, keep_sending);
    }));
    // IPv6 addresses go with the link; IPv4 stays.
    CHECK(run("ip -n " + hosts.name(0) + " link set eth0 up"));
    CHECK(hosts.await_cable());
  }
}

TEST_CASE("a host that does not answer is given up") {
  const Hosts hosts;
  if (!hosts.usable()) return;
  int given_up[2];
  REQUIRE(pipe(given_up) == 0);
  check_all_fine(fork_nodes(hosts.subject("tcp:interface=10.77.0.0/16"), 2, [&](Node& node) {
    if (node.number() == 1) {
      // Neither polls nor ends, which would be an answer.
      pollfd watched{given_up[0], POLLIN, 0};
      return poll(&watched, 1, 200'000) == 1 ? kFine : kSurprise;
    }
    // The other one is there when addresses are exchanged, and gone before the first message.
    run("ip -n " + hosts.name(1) + " link set eth0 down");
    const double start = seconds_now();
    node.send(1, 1, {}, {});
    const bool lost = node.asleep_until("the loss", [&] { return !node.lost_peers.empty(); });
    const double waited = seconds_now() - start;
    if (write(given_up[1], "", 1) != 1) return kSurprise;
    return lost && waited < 60 ? kFine : kNotNoticed;  // 3 s; the kernel would need two minutes
  }));
  for (const int fd : given_up) close(fd);
}

}  // namespace
}  // namespace tmpi::net::tcp
