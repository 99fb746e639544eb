#include "net/sealed_stream.hpp"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace tmpi::net {
namespace {

// Two sockets that do not wait, of which somebody between the two streams has the inner ends.
struct Way {
  Way() {
    for (auto* pair : {&launcher, &node})
      REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair->data()) == 0);
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  ~Way() {
    for (const auto& pair : {launcher, node})
      for (const int fd : pair) close(fd);
  }
  std::string take() const {
    std::string bytes(1u << 20, '\0');
    const ssize_t got = recv(launcher[1], bytes.data(), bytes.size(), 0);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }
  void bring(std::string_view bytes) const {
    REQUIRE(send(node[1], bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  std::array<int, 2> launcher{}, node{};
};

struct Ends {
  explicit Ends(int number = 3)
      : launcher(secret, Role::kControl, kLauncherNode, number),
        node(secret, Role::kControl, number, kLauncherNode) {}
  Secret secret = *Secret::draw();
  SealedStream launcher, node;
};

TEST_CASE("what is sent comes out at the other end, in pieces of any size, and is not seen between") {
  const Way way;
  Ends ends;
  std::string said, opened;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(static_cast<std::size_t>(1 + i * 97), static_cast<char>('a' + i % 26));
    CHECK(ends.launcher.send(way.launcher[0], piece) == static_cast<ssize_t>(piece.size()));
    said += piece;
  }
  const std::string seen = way.take();
  CHECK(seen.find("bbbbbbbb") == std::string::npos);
  for (std::size_t at = 0, step = 1; at < seen.size(); at += step, step = step * 3 + 1) {
    way.bring(std::string_view(seen).substr(at, step));
    CHECK(ends.node.receive(way.node[0], opened) > 0);
  }
  CHECK(opened == said);
  CHECK(ends.node.receive(way.node[0], opened) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("a full socket takes a part, and the rest follows") {
  std::array<int, 2> ends_of_socket{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_of_socket.data()) == 0);
  Ends ends;
  std::string said(3u << 20, 'x');
  for (std::size_t i = 0; i < said.size(); ++i) said[i] = static_cast<char>(i * 2654435761u >> 13);
  std::string opened;
  bool was_full = false;
  for (std::size_t sent = 0; opened.size() < said.size();) {
    const ssize_t gone = ends.node.send(ends_of_socket[0], std::string_view(said).substr(sent));
    REQUIRE(gone >= 0);
    sent += static_cast<std::size_t>(gone);
    was_full |= sent < said.size();
    REQUIRE(ends.launcher.receive(ends_of_socket[1], opened) != 0);
  }
  CHECK(was_full);
  CHECK(opened == said);
  close(ends_of_socket[0]);
  std::string rest;
  CHECK(ends.launcher.receive(ends_of_socket[1], rest) == 0);
  CHECK(rest.empty());
  close(ends_of_socket[1]);
}

TEST_CASE("what somebody between has changed, repeated, left out or taken from elsewhere does not open") {
  const auto after = [](auto&& change) {
    const Way way;
    Ends ends;
    std::array<std::string, 3> seen;
    for (std::string& piece : seen) {
      ends.launcher.send(way.launcher[0], "start ./app");
      piece = way.take();
    }
    change(way, ends, seen);
    std::string opened;
    while (ends.node.receive(way.node[0], opened) > 0) {
    }
    const bool refused = errno == EBADMSG;
    CHECK(ends.node.receive(way.node[0], opened) == -1);  // and stays so
    return refused && errno == EBADMSG ? opened.size() / 11 : 99;
  };
  using Seen = std::array<std::string, 3>;
  CHECK(after([](const Way& way, Ends&, Seen& seen) { way.bring(seen[0] + seen[1] + seen[2]); }) ==
        99);  // right
  for (const std::size_t at : {std::size_t{0}, std::size_t{30}, std::size_t{40}}) {
    CHECK(after([&](const Way& way, Ends&, Seen& seen) {
            seen[0][at] = static_cast<char>(seen[0][at] ^ 1);
            way.bring(seen[0]);
          }) == 0);
  }
  CHECK(after([](const Way& way, Ends&, Seen& seen) { way.bring(seen[0] + seen[2]); }) == 1);
  CHECK(after([](const Way& way, Ends&, Seen& seen) { way.bring(seen[0] + seen[1] + seen[1]); }) == 2);
  CHECK(after([](const Way& way, Ends&, Seen& seen) { way.bring(seen[0] + std::string(64, '\xff')); }) == 1);
  CHECK(after([](const Way& way, Ends& ends, Seen&) {  // of another node process
          SealedStream other(ends.secret, Role::kControl, kLauncherNode, 4);
          other.send(way.launcher[0], "start ./app");
          way.bring(way.take());
        }) == 0);
  CHECK(after([](const Way& way, Ends& ends, Seen&) {  // its own words
          ends.node.send(way.launcher[0], "start ./app");
          way.bring(way.take());
        }) == 0);
}

TEST_CASE("another process goes on with a stream, in the middle of a piece") {
  const Way way;
  Ends ends;
  std::string opened;
  ends.launcher.send(way.launcher[0], "first");
  ends.launcher.send(way.launcher[0], "second");
  const std::string seen = way.take();
  way.bring(std::string_view(seen).substr(0, seen.size() - 3));
  CHECK(ends.node.receive(way.node[0], opened) > 0);
  CHECK(ends.node.send(way.launcher[0], "said") == 4);
  SealedStream next(ends.node.state());
  way.bring(std::string_view(seen).substr(seen.size() - 3));
  CHECK(next.receive(way.node[0], opened) > 0);
  CHECK(opened == "firstsecond");
  CHECK(next.send(way.launcher[0], " more") == 5);
  way.bring(way.take());
  std::string heard;
  CHECK(ends.launcher.receive(way.node[0], heard) > 0);
  CHECK(heard == "said more");
}

TEST_CASE("a piece that says it is longer than any is none") {
  const Way way;
  Ends ends;
  ends.launcher.send(way.launcher[0], "x");
  way.bring(way.take());
  std::string opened;
  CHECK(ends.node.receive(way.node[0], opened) > 0);
  way.bring(std::string_view("\x12\x00\x01\x00", 4));  // 64 KiB and 18 bytes
  CHECK(ends.node.receive(way.node[0], opened) == -1);
  CHECK(errno == EBADMSG);
  CHECK(opened == "x");
}

}  // namespace
}  // namespace tmpi::net
