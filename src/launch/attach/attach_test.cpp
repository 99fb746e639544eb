// attach() and AttachPort against each other, and against visitors who have no business there.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "launch/attach/attach_port.hpp"
#include "launch/attach/attach_target.hpp"

using namespace tmpi::launch;
using Outcome = AttachPort::Outcome;

namespace {

// Seconds after which something is waited for in vain, on however busy a machine.
constexpr double kHang = 100;

int visit(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

void close_all(const std::vector<int>& channels) {
  for (const int fd : channels) {
    if (fd >= 0) close(fd);
  }
}

}  // namespace

TEST_CASE("a target survives being a text") {
  const auto port = AttachPort::open();
  REQUIRE(port);
  const AttachTarget& target = port->target();
  CHECK_FALSE(target.addresses.empty());
  const auto back = target_from_text(to_text(target));
  REQUIRE(back);
  CHECK(back->job == target.job);
  CHECK(back->secret.bytes == target.secret.bytes);
  CHECK(back->port == target.port);
  CHECK(back->addresses == target.addresses);
  const std::string text = to_text(target);
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, text.find(' ') + 10, text.rfind(' ') - 40})
    CHECK_FALSE(target_from_text(std::string_view(text).substr(0, length)));
}

TEST_CASE("node processes attach in any order, and the channel carries bytes") {
  const auto port = AttachPort::open();
  REQUIRE(port);
  std::vector<std::thread> threads;
  std::array<int, 4> sockets{-1, -1, -1, -1};
  for (const std::size_t node : {3, 1, 2}) {
    threads.emplace_back([&, node] {
      if (const auto fd = attach(port->target(), static_cast<int>(node), kHang)) sockets[node] = *fd;
    });
  }
  std::vector<int> channels(4, -1);
  channels[0] = -1;
  CHECK(port->gather(channels, 1, -1, kHang) == Outcome::kComplete);
  for (std::thread& thread : threads) thread.join();
  CHECK(channels[0] == -1);
  for (std::size_t node = 1; node < 4; ++node) {
    REQUIRE(sockets[node] >= 0);
    const char byte = static_cast<char>('0' + node);
    char got = 0;
    CHECK(write(channels[node], &byte, 1) == 1);
    pollfd watched{sockets[node], POLLIN, 0};
    REQUIRE(poll(&watched, 1, static_cast<int>(1000 * kHang)) == 1);
    CHECK(recv(sockets[node], &got, 1, MSG_DONTWAIT) == 1);
    CHECK(got == byte);
    close(sockets[node]);
  }
  close_all(channels);
}

TEST_CASE("a wrong secret, an unknown number and garbage do not get in, and do not keep others out") {
  const auto port = AttachPort::open();
  REQUIRE(port);
  const int silent = visit(port->target().port);
  const int garbage = visit(port->target().port);
  const std::array<char, 4096> noise{'G', 'E', 'T', ' ', '/'};
  CHECK(write(garbage, noise.data(), noise.size()) > 0);
  std::string wrong_secret;
  std::string unknown;
  int right = -1;
  std::thread visitors([&] {
    AttachTarget other = port->target();
    other.secret.bytes[5] ^= 1;
    const auto first = attach(other, 0, kHang);
    if (!first) wrong_secret = first.message();
    const auto second = attach(port->target(), 7, kHang);
    if (!second) unknown = second.message();
    if (const auto third = attach(port->target(), 0, kHang)) right = *third;
  });
  std::vector<int> channels(1, -1);
  CHECK(port->gather(channels, 0, -1, kHang) == Outcome::kComplete);
  visitors.join();
  CHECK(wrong_secret.find("secret") != std::string::npos);
  CHECK(unknown.find("no such node process") != std::string::npos);
  CHECK(right >= 0);
  close_all({silent, garbage, right});
  close_all(channels);
}

TEST_CASE("gathering ends when the starter has, or in time") {
  const auto port = AttachPort::open();
  REQUIRE(port);
  std::vector<int> channels(2, -1);
  CHECK(port->gather(channels, 0, -1, 0.1) == Outcome::kLate);
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[1]);
  CHECK(port->gather(channels, 0, ends[0], kHang) == Outcome::kStopped);
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
  target.addresses = {"127.0.0.1"};
  const auto refused = attach(target, 0, kHang);
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("127.0.0.1 (Connection refused)") != std::string::npos);
  close(taken);
}
