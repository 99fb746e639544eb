// attach() and AttachPort against each other, and against connections that have no business there.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "launch/attach/attach_port.hpp"
#include "launch/attach/attach_target.hpp"
#include "launch/attach/node_keys.hpp"
#include "launch/wire/hello.hpp"

using namespace tmpi::launch;
using Outcome = AttachPort::Outcome;
using Reach = AttachPort::Reach;

namespace {

// Seconds after which something is waited for in vain, on however busy a machine.
constexpr double kHang = 100;

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

// What the starter has brought for these node processes.
struct Nodes {
  explicit Nodes(std::size_t count) : keys(count) {
    for (std::size_t node = 0; node < count; ++node) {
      pairs.push_back(*tmpi::net::KeyPair::draw());
      keys.learn(node, pairs.back().public_key());
    }
  }
  std::vector<tmpi::net::KeyPair> pairs;
  NodeKeys keys;
};

// Somebody between the two ends who reads everything that they say.
class Eavesdropper {
 public:
  explicit Eavesdropper(std::uint16_t port) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
    REQUIRE(listen(listener_, 1) == 0);
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
    ends_[1] = connect_to(port);
    thread_ = std::thread([this] { carry(); });
  }
  ~Eavesdropper() {
    for (const int fd : {ends_[0], ends_[1], listener_}) close(fd);
  }
  std::uint16_t port() const { return port_; }
  // All that went either way; both ends must have closed.
  const std::string& heard() {
    thread_.join();
    return heard_;
  }

 private:
  void carry() {
    ends_[0] = accept(listener_, nullptr, nullptr);
    for (int open = 2; open > 0;) {
      std::array<pollfd, 2> requests{pollfd{done_[0] ? -1 : ends_[0], POLLIN, 0},
                                     pollfd{done_[1] ? -1 : ends_[1], POLLIN, 0}};
      poll(requests.data(), requests.size(), -1);
      for (const std::size_t from : {0, 1}) {
        if (requests[from].revents == 0) continue;
        std::array<char, 512> buffer{};
        const ssize_t got = recv(ends_[from], buffer.data(), buffer.size(), 0);
        if (got <= 0) {
          shutdown(ends_[1 - from], SHUT_WR);
          done_[from] = true;
          --open;
          continue;
        }
        heard_.append(buffer.data(), static_cast<std::size_t>(got));
        send(ends_[1 - from], buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
      }
    }
  }

  int listener_;
  std::uint16_t port_ = 0;
  std::array<int, 2> ends_{-1, -1};
  std::array<bool, 2> done_{};
  std::string heard_;
  std::thread thread_;
};

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

void close_all(const std::vector<int>& channels) {
  for (const int fd : channels) {
    if (fd >= 0) close(fd);
  }
}

}  // namespace

TEST_CASE("a target survives being a text") {
  const auto port = AttachPort::open(Reach::kAnywhere);
  REQUIRE(port);
  const AttachTarget& target = port->target();
  CHECK_FALSE(target.addresses.empty());
  const auto back = target_from_text(to_text(target));
  REQUIRE(back);
  CHECK(back->job == target.job);
  CHECK(back->key == target.key);
  CHECK(back->port == target.port);
  CHECK(back->network == target.network);
  CHECK(back->addresses == target.addresses);
  const std::string text = to_text(target);
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, text.find(' ') + 10, text.rfind(' ') - 40})
    CHECK_FALSE(target_from_text(std::string_view(text).substr(0, length)));
}

TEST_CASE("on another machine nobody looks for tmpirun on the loopback interface") {
  AttachTarget target;
  target.network = "here";
  target.addresses = {"10.1.2.3", "127.0.0.1", "fd00::2", "::1", "nonsense"};
  CHECK(addresses_from(target, "here") == std::vector<std::string>{"127.0.0.1", "::1"});
  CHECK(addresses_from(target, "elsewhere") == std::vector<std::string>{"10.1.2.3", "fd00::2"});
  const auto port = AttachPort::open(Reach::kThisMachine);
  REQUIRE(port);
  AttachTarget far = port->target();
  far.network += "-of-another-machine";
  Nodes nodes(1);
  const auto refused = attach(far, nodes.pairs[0], 0, kHang);
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("no address that this one could reach") != std::string::npos);
}

TEST_CASE("node processes attach in any order, and the channel carries bytes") {
  const auto port = AttachPort::open(Reach::kAnywhere);
  REQUIRE(port);
  Nodes nodes(4);
  std::vector<std::thread> threads;
  std::array<int, 4> sockets{-1, -1, -1, -1};
  std::array<bool, 4> has_key{};
  for (const std::size_t node : {3, 1, 2}) {
    threads.emplace_back([&, node] {
      auto attached = attach(port->target(), nodes.pairs[node], static_cast<int>(node), kHang);
      if (!attached) return;
      sockets[node] = attached->channel.release();
      has_key[node] =
          attached->key.job == port->key().job && attached->key.secret.bytes == port->key().secret.bytes;
    });
  }
  std::vector<tmpi::Fd> channels(4);
  CHECK(port->gather(channels, 1, nodes.keys, -1, kHang) == Outcome::kComplete);
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(channels[0]);
  for (std::size_t node = 1; node < 4; ++node) {
    REQUIRE(sockets[node] >= 0);
    CHECK(has_key[node]);
    const char byte = static_cast<char>('0' + node);
    char got = 0;
    CHECK(write(channels[node].get(), &byte, 1) == 1);
    pollfd watched{sockets[node], POLLIN, 0};
    REQUIRE(poll(&watched, 1, static_cast<int>(1000 * kHang)) == 1);
    CHECK(recv(sockets[node], &got, 1, MSG_DONTWAIT) == 1);
    CHECK(got == byte);
    close(sockets[node]);
  }
}

TEST_CASE("a wrong secret, an unknown number and garbage do not get in, and do not keep others out") {
  const auto port = AttachPort::open(Reach::kAnywhere);
  REQUIRE(port);
  const int silent = connect_to(port->target().port);
  const int garbage = connect_to(port->target().port);
  const std::array<char, 4096> noise{'G', 'E', 'T', ' ', '/'};
  CHECK(write(garbage, noise.data(), noise.size()) > 0);
  Nodes nodes(1);
  std::string wrong_secret;
  std::string wrong_launcher;
  std::string unknown;
  int right = -1;
  std::thread connections([&] {
    const auto first = attach(port->target(), *tmpi::net::KeyPair::draw(), 0, kHang);
    if (!first) wrong_secret = first.message();
    const auto second = attach(port->target(), nodes.pairs[0], 7, kHang);
    if (!second) unknown = second.message();
    AttachTarget other = port->target();
    other.key = tmpi::net::KeyPair::draw()->public_key();
    const auto impostor = attach(other, nodes.pairs[0], 0, kHang);  // not whom the starter has named
    if (!impostor) wrong_launcher = impostor.message();
    if (auto third = attach(port->target(), nodes.pairs[0], 0, kHang)) right = third->channel.release();
  });
  std::vector<tmpi::Fd> channels(1);
  CHECK(port->gather(channels, 0, nodes.keys, -1, kHang) == Outcome::kComplete);
  connections.join();
  CHECK(wrong_secret.find("secret") != std::string::npos);
  CHECK(wrong_launcher.find("secret") != std::string::npos);
  CHECK(unknown.find("no such node process") != std::string::npos);
  CHECK(right >= 0);
  close_all({silent, garbage, right});
}

TEST_CASE("a port for node processes of this machine is on its loopback interface only") {
  const auto port = AttachPort::open(Reach::kThisMachine);
  REQUIRE(port);
  CHECK(port->target().addresses == std::vector<std::string>{"127.0.0.1"});
  close(connect_to(port->target().port));
  ifaddrs* all = nullptr;
  REQUIRE(getifaddrs(&all) == 0);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET ||
        (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    sockaddr_in address = reinterpret_cast<const sockaddr_in&>(*each->ifa_addr);
    address.sin_port = htons(port->target().port);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0);
    close(fd);
  }
  freeifaddrs(all);
}

// Both ends are in this process, so at most a half of its descriptors are the port's.
TEST_CASE("thousands of idle strangers do not keep node processes out") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  const auto port = AttachPort::open(Reach::kThisMachine);
  REQUIRE(port);
  std::vector<int> strangers;
  for (rlim_t i = 0; i < std::min<rlim_t>(2000, limit.rlim_cur / 3); ++i)
    strangers.push_back(connect_to(port->target().port));
  Nodes nodes(2);
  std::vector<std::thread> threads;
  std::array<int, 2> sockets{-1, -1};
  for (const std::size_t node : {0, 1}) {
    threads.emplace_back([&, node] {
      auto attached = attach(port->target(), nodes.pairs[node], static_cast<int>(node), kHang);
      if (attached) sockets[node] = attached->channel.release();
    });
  }
  std::vector<tmpi::Fd> channels(2);
  CHECK(port->gather(channels, 0, nodes.keys, -1, kHang) == Outcome::kComplete);
  for (std::thread& thread : threads) thread.join();
  close_all(strangers);
  close_all({sockets[0], sockets[1]});
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a port without descriptors waits rather than spins, and goes on when there are some") {
  const auto port = AttachPort::open(Reach::kThisMachine);
  REQUIRE(port);
  Nodes nodes(1);
  const int stranger = connect_to(port->target().port);
  std::vector<int> taken;  // all that are left
  for (int fd = dup(0); fd >= 0; fd = dup(0)) taken.push_back(fd);
  REQUIRE(errno == EMFILE);
  const auto cpu = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::vector<tmpi::Fd> channels(1);
  const double start = cpu();
  CHECK(port->gather(channels, 0, nodes.keys, -1, 1) == Outcome::kLate);
  CHECK(cpu() - start < 0.3);
  close_all(taken);
  int node = -1;
  std::thread connection([&] {
    auto attached = attach(port->target(), nodes.pairs[0], 0, kHang);
    if (attached) node = attached->channel.release();
  });
  CHECK(port->gather(channels, 0, nodes.keys, -1, kHang) == Outcome::kComplete);
  connection.join();
  close_all({stranger, node});
}

TEST_CASE("who reads all that travels does not find the key of the job") {
  const auto port = AttachPort::open(Reach::kAnywhere);
  REQUIRE(port);
  const auto pair = tmpi::net::KeyPair::draw();
  REQUIRE(pair);
  AttachTarget target = port->target();
  Eavesdropper eavesdropper(target.port);
  target.port = eavesdropper.port();
  target.addresses = {"127.0.0.1"};
  // The public key comes while the connection waits for it, as in what srun's tasks print.
  std::array<int, 2> printed{};
  REQUIRE(pipe(printed.data()) == 0);
  AnnouncedKeys keys(1, printed[0], STDERR_FILENO);
  const std::string line = announcement(0, pair->public_key());
  std::string got;
  std::thread node([&] {
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (write(printed[1], line.data(), line.size()) != static_cast<ssize_t>(line.size())) close(printed[1]);
    });
    auto attached = attach(target, *pair, 0, kHang);
    late.join();
    if (!attached) return;
    got.assign(reinterpret_cast<const char*>(attached->key.secret.bytes.data()),
               attached->key.secret.bytes.size());
  });
  std::vector<tmpi::Fd> channels(1);
  CHECK(port->gather(channels, 0, keys, -1, kHang) == Outcome::kComplete);
  node.join();
  channels.clear();
  const std::string& bytes = eavesdropper.heard();
  const std::string secret(reinterpret_cast<const char*>(port->key().secret.bytes.data()),
                           port->key().secret.bytes.size());
  CHECK(got == secret);
  CHECK(bytes.size() > 4 * 160);  // the handshake and the sealed key
  for (const std::string& travels : {bytes, to_text(target), line}) {
    CHECK(travels.find(secret) == std::string::npos);
    CHECK(travels.find(secret.substr(0, 8)) == std::string::npos);
    CHECK(travels.find(hexadecimal(secret)) == std::string::npos);
  }
  close(printed[0]);
  close(printed[1]);
}

TEST_CASE("collecting node processes ends when the starter has, or in time") {
  const auto port = AttachPort::open(Reach::kAnywhere);
  REQUIRE(port);
  std::vector<tmpi::Fd> channels(2);
  Nodes nodes(2);
  CHECK(port->gather(channels, 0, nodes.keys, -1, 0.1) == Outcome::kLate);
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[1]);
  CHECK(port->gather(channels, 0, nodes.keys, ends[0], kHang) == Outcome::kStopped);
  close(ends[0]);
}

TEST_CASE("an address where nobody answers is named") {
  // Bound, so that no other process of this machine listens there.
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(bind(taken, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  REQUIRE(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  AttachTarget target;
  target.port = ntohs(address.sin_port);
  target.network = own_hello().network;
  target.addresses = {"127.0.0.1"};
  target.key = tmpi::net::KeyPair::draw()->public_key();
  const auto refused = attach(target, *tmpi::net::KeyPair::draw(), 0, kHang);
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("127.0.0.1 (Connection refused)") != std::string::npos);
  close(taken);
}
