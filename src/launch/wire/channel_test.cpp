#include "launch/wire/channel.hpp"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

using namespace tmpi::launch;
using tmpi::Fd;

namespace {

using Received = Channel::Received;

std::pair<Fd, Fd> connected() {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

tmpi::net::Secret secret() {
  tmpi::net::Secret one;
  one.bytes.fill(7);
  return one;
}

// What has come, as one text: "payload;payload;".
std::string payloads(Channel& channel) {
  std::string all;
  Frame frame{};
  while (channel.next(frame) == FrameReader::Status::kFrame) all.append(frame.payload) += ';';
  return all;
}

}  // namespace

TEST_CASE("frames go both ways, and the end shows") {
  auto [one, other] = connected();
  Channel here(std::move(one)), there(std::move(other));
  CHECK_FALSE(here.sealed());
  CHECK(there.receive() == Received::kNothing);
  here.send(FrameType::kOutput, 3, 1, "first");
  here.send(FrameType::kOutput, 3, 1, "second");
  CHECK_FALSE(here.wants_to_send());
  CHECK(there.receive() == Received::kSomething);
  CHECK(payloads(there) == "first;second;");
  there.send(FrameType::kStdin, -1, 0, "back");
  CHECK(here.receive() == Received::kSomething);
  CHECK(payloads(here) == "back;");
  there.close();
  CHECK(there.in() == -1);
  there.send(FrameType::kStdin, -1, 0, "nobody hears this");
  CHECK_FALSE(there.wants_to_send());
  CHECK(here.receive() == Received::kEnd);
}

TEST_CASE("what does not go at once waits, and goes later") {
  auto [one, other] = connected();
  Channel here(std::move(one)), there(std::move(other));
  const std::string large(1 << 20, 'x');
  here.send(FrameType::kOutput, 0, 1, large);
  CHECK(here.wants_to_send());
  std::string come;
  while (come.empty()) {
    REQUIRE(there.receive() == Received::kSomething);
    come = payloads(there);
    REQUIRE(here.flush());
  }
  CHECK(come == large + ";");
  CHECK_FALSE(here.wants_to_send());
  there.close();
  here.send(FrameType::kOutput, 0, 1, "lost");
  CHECK(here.flush());  // forgotten
  CHECK_FALSE(here.wants_to_send());
}

TEST_CASE("two descriptors, one for each way") {
  std::array<int, 2> in{}, out{};
  REQUIRE(pipe2(in.data(), O_NONBLOCK | O_CLOEXEC) == 0);
  REQUIRE(pipe2(out.data(), O_NONBLOCK | O_CLOEXEC) == 0);
  Channel here{Fd(in[0]), Fd(out[1])}, there{Fd(out[0]), Fd(in[1])};
  CHECK(here.in() != here.out());
  here.send(FrameType::kOutput, 0, 1, "out");
  there.send(FrameType::kStdin, 0, 0, "in");
  CHECK(there.receive() == Received::kSomething);
  CHECK(here.receive() == Received::kSomething);
  CHECK(payloads(there) == "out;");
  CHECK(payloads(here) == "in;");
}

TEST_CASE("what a remote shell prints before the preamble is noise") {
  auto [shell, other] = connected();
  Channel here(std::move(other));
  std::string noise, frame;
  here.await_preamble(noise);
  append_frame(frame, FrameType::kHello, -1, 0, "hello");
  const std::string all = "Welcome!\n" + std::string(kPreamble) + frame;
  for (std::size_t at = 0; at < all.size(); at += 7) {  // however it is cut
    const std::string piece = all.substr(at, 7);
    REQUIRE(write(shell.get(), piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()));
    CHECK(here.receive() == Received::kSomething);
  }
  CHECK_FALSE(here.awaits_preamble());
  CHECK(noise == "Welcome!\n");
  CHECK(payloads(here) == "hello;");
}

TEST_CASE("a sealed channel shows nothing to who listens, and takes nothing from who changes it") {
  auto [one, wire_one] = connected();
  auto [wire_other, other] = connected();
  Channel here(std::move(one)), there(std::move(other));
  here.seal(secret(), tmpi::net::kLauncherNode, 2);
  there.seal(secret(), 2, tmpi::net::kLauncherNode);
  CHECK(here.sealed());
  for (const bool changed : {false, true}) {
    here.send(FrameType::kOutput, 0, 1, "a word that nobody reads");
    std::string bytes(4096, '\0');
    const ssize_t got = read(wire_one.get(), bytes.data(), bytes.size());
    REQUIRE(got > 0);
    bytes.resize(static_cast<std::size_t>(got));
    CHECK(bytes.find("word") == std::string::npos);
    if (changed) bytes.back() = static_cast<char>(bytes.back() ^ 1);
    REQUIRE(write(wire_other.get(), bytes.data(), bytes.size()) == got);
    CHECK(there.receive() == Received::kSomething);
    Frame frame{};
    if (!changed) {
      CHECK(payloads(there) == "a word that nobody reads;");
      Channel again{Fd(dup(there.in()))};  // as in the program that this one becomes
      again.seal_again(there.seal_state());
      CHECK(again.sealed());
    } else {
      CHECK(there.next(frame) == FrameReader::Status::kGarbage);
    }
  }
}
