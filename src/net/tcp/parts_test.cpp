// The parts of tcp that need no socket.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "net/tcp/endpoint.hpp"
#include "net/tcp/frame_parser.hpp"
#include "net/tcp/interfaces.hpp"
#include "net/tcp/send_queue.hpp"
#include "net/tcp/settings.hpp"

namespace tmpi::net::tcp {
namespace {

using Bytes = std::vector<std::byte>;

TEST_CASE("settings: what is meant, and what is refused") {
  CHECK(parse_settings("")->interface.empty());
  const auto both = parse_settings("interface=eth0,port=5000-5100");
  REQUIRE(both);
  CHECK(both->interface == "eth0");
  CHECK(both->first_port == 5000);
  CHECK(both->last_port == 5100);
  CHECK(parse_settings("port=7")->last_port == 7);
  CHECK_FALSE(both->encrypt);
  CHECK(parse_settings("encrypt,port=7")->encrypt);
  CHECK_FALSE(parse_settings("encrypt=yes"));
  CHECK(parse_settings("interface=fd00::/16"));
  for (const char* bad :
       {"port=0", "port=70000", "port=5-4", "port=x", "port=", "interface=", "interface=10.0.0.0/33",
        "interface=eth0/8", "color=red", "interface", "port=1-", "port=1x"})
    CHECK_MESSAGE(!parse_settings(bad), bad);
  CHECK(parse_settings("color=red").message().find("there is no setting \"color=red\"") != std::string::npos);
}

TEST_CASE("endpoints come back from their texts") {
  for (const char* text : {"10.1.2.3:4711", "[fd00::2]:1", "[::1]:65535"}) {
    const auto endpoint = endpoint_from_text(text);
    REQUIRE(endpoint);
    CHECK(endpoint->text() == text);
  }
  for (const char* bad :
       {"", ":", "10.1.2.3", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:65536", "10.1.2:3x", "host:1"})
    CHECK_MESSAGE(!endpoint_from_text(bad), bad);
  const auto list = endpoints_from_text("tcp 10.0.0.1:1 [fd00::1]:2");
  REQUIRE(list);
  CHECK(address_text(*list) == "tcp 10.0.0.1:1 [fd00::1]:2");
  for (const char* bad : {"", "tcp", "tcp ", "sim 1", "tcp  10.0.0.1:1", "tcp 10.0.0.1:1 "})
    CHECK_MESSAGE(!endpoints_from_text(bad), bad);
}

TEST_CASE("networks") {
  const auto at = [](const char* text) { return *address_from_text(text); };
  CHECK(at("10.1.2.3").same_network(at("10.9.9.9"), 8));
  CHECK_FALSE(at("10.1.2.3").same_network(at("11.1.2.3"), 8));
  CHECK(at("192.168.1.130").same_network(at("192.168.1.129"), 25));
  CHECK_FALSE(at("192.168.1.127").same_network(at("192.168.1.129"), 25));
  CHECK_FALSE(at("10.0.0.1").same_network(at("fd00::1"), 0));
  CHECK(at("fd00::1").same_network(at("fd00::ffff"), 112));
}

LocalAddress local(const char* interface, const char* address, unsigned bits, bool up = true) {
  return {interface, *address_from_text(address), bits, up};
}

std::string names(const Result<std::vector<LocalAddress>>& chosen) {
  std::string text;
  REQUIRE_MESSAGE(chosen, (chosen ? "" : chosen.message()));
  for (const LocalAddress& address : *chosen) text += address.endpoint.host_text() + " ";
  return text;
}

TEST_CASE("the interface is the one that other hosts reach") {
  const std::vector<LocalAddress> all = {local("lo", "127.0.0.1", 8),
                                         local("docker0", "172.17.0.1", 16),
                                         local("eth0", "192.168.1.5", 24),
                                         local("ib0", "10.0.0.5", 8),
                                         local("eth1", "192.168.2.5", 24, false),
                                         local("virbr0", "192.168.122.1", 24),
                                         local("lo", "::1", 128),
                                         local("eth0", "fd00::5", 64),
                                         local("eth0", "fe80::1", 64),
                                         local("veth12ab", "10.88.0.1", 16)};
  CHECK(names(choose_addresses(all, "", false)) == "192.168.1.5 10.0.0.5 fd00::5 ");
  CHECK(names(choose_addresses(all, "", true)) == "127.0.0.1 ::1 ");
  CHECK(names(choose_addresses(all, "ib0", false)) == "10.0.0.5 ");
  CHECK(names(choose_addresses(all, "ib0", true)) == "10.0.0.5 ");
  CHECK(names(choose_addresses(all, "eth0", false)) == "192.168.1.5 fd00::5 ");  // not the link-local one
  CHECK(names(choose_addresses(all, "192.168.0.0/16", false)) == "192.168.1.5 192.168.122.1 ");
  CHECK(names(choose_addresses(all, "fd00::/16", false)) == "fd00::5 ");
  CHECK(names(choose_addresses(all, "docker0", false)) == "172.17.0.1 ");  // whoever asks for it
  CHECK_FALSE(choose_addresses(all, "eth1", false));
  const auto none = choose_addresses(all, "eth7", false);
  REQUIRE_FALSE(none);
  CHECK(none.message().find("interface=eth7") != std::string::npos);
  CHECK(none.message().find("ib0 (10.0.0.5)") != std::string::npos);
  const auto inner = choose_addresses({all[0], all[1], all[4]}, "", false);
  REQUIRE_FALSE(inner);
  CHECK(inner.message().find("docker0 (172.17.0.1) is a network inside this machine") != std::string::npos);
  CHECK(inner.message().find("eth1 (192.168.2.5) is down") != std::string::npos);
}

TEST_CASE("near addresses are tried first") {
  auto endpoints = *endpoints_from_text("tcp 192.168.7.1:1 10.0.0.9:2 [fd00::9]:3");
  sort_by_nearness(endpoints, {local("ib0", "10.0.0.5", 8), local("eth0", "fd00::5", 64)});
  CHECK(address_text(endpoints) == "tcp 10.0.0.9:2 [fd00::9]:3 192.168.7.1:1");
}

// --- the frame parser

class Recorder final : public Sink {
 public:
  struct Seen {
    std::uint8_t id;
    Bytes header, payload;
    std::size_t announced;
  };
  Landing arriving(int, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override {
    CHECK_FALSE(open);
    open = true;
    seen.push_back({id, {header.begin(), header.end()}, Bytes(std::min(payload, room)), payload});
    return {seen.back().payload.data(), room, nullptr};
  }
  void landed(int, void*) noexcept override {
    CHECK(open);
    open = false;
  }
  void lost(int, const std::string&) noexcept override { FAIL_CHECK("a parser loses nobody"); }

  std::vector<Seen> seen;
  std::size_t room = SIZE_MAX;
  bool open = false;
};

void append_frame(Bytes& stream, FrameKind kind, std::uint8_t id, std::size_t header, std::size_t payload) {
  const FrameHeader frame{kind, id, static_cast<std::uint16_t>(header), 0, payload};
  const auto* bytes = reinterpret_cast<const std::byte*>(&frame);
  stream.insert(stream.end(), bytes, bytes + sizeof frame);
  for (std::size_t i = 0; i < header + payload; ++i) stream.push_back(static_cast<std::byte>(i * 7 + id));
}

TEST_CASE("frames survive any division of the stream, by the buffer or past it") {
  for (const std::size_t room : {SIZE_MAX, std::size_t{100}, std::size_t{0}}) {
    std::mt19937 random(static_cast<unsigned>(room));
    Bytes stream;
    for (std::size_t i = 0; i < 300; ++i)
      append_frame(stream, FrameKind::kMessage, static_cast<std::uint8_t>(i), i * 13 % (kMostHeader + 1),
                   i * 31 % 700);
    append_frame(stream, FrameKind::kGoodbye, 0, 0, 0);
    Recorder sink;
    sink.room = room;
    FrameParser parser(3, sink);
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 300, stream.size() - at);
      const iovec direct = parser.direct();
      if (direct.iov_len != 0 && random() % 2 == 0) {
        const std::size_t bytes = std::min(piece, direct.iov_len);
        std::memcpy(direct.iov_base, stream.data() + at, bytes);
        parser.took_direct(bytes);
        at += bytes;
      } else {
        REQUIRE(parser.take({stream.data() + at, piece}));
        at += piece;
      }
    }
    CHECK(parser.said_goodbye());
    CHECK(sink.seen.size() == 300);
    CHECK(parser.counts().messages == 300);
    for (std::size_t i = 0; i < sink.seen.size(); ++i) {
      const auto& seen = sink.seen[i];
      Bytes expected;
      append_frame(expected, FrameKind::kMessage, static_cast<std::uint8_t>(i), i * 13 % (kMostHeader + 1),
                   i * 31 % 700);
      expected.erase(expected.begin(), expected.begin() + sizeof(FrameHeader));
      expected.resize(seen.header.size() + std::min(seen.announced, room));
      Bytes whole = seen.header;
      whole.insert(whole.end(), seen.payload.begin(), seen.payload.end());
      CHECK(whole == expected);
    }
  }
}

TEST_CASE("what is no frame is refused before anything is done with it") {
  const auto refused = [](FrameHeader frame, std::size_t in_pieces_of) {
    Recorder sink;
    FrameParser parser(0, sink);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&frame, 1));
    bool fine = true;
    for (std::size_t at = 0; at < bytes.size() && fine; at += in_pieces_of)
      fine = parser.take(bytes.subspan(at, std::min(in_pieces_of, bytes.size() - at)));
    CHECK(sink.seen.empty());
    return !fine;
  };
  for (const std::size_t pieces : {1, 7, 16}) {
    CHECK(refused({FrameKind{0}, 0, 0, 0, 0}, pieces));
    CHECK(refused({FrameKind{9}, 0, 0, 0, 0}, pieces));
    CHECK(refused({FrameKind::kMessage, 0, kMostHeader + 1, 0, 0}, pieces));
    CHECK(refused({FrameKind::kMessage, 0, 0, 1, 0}, pieces));
    CHECK(refused({FrameKind::kMessage, 0, 0, 0, kMostPayload + 1}, pieces));
    CHECK(refused({FrameKind::kGoodbye, 0, 0, 0, 1}, pieces));
  }
  Bytes stream;
  append_frame(stream, FrameKind::kGoodbye, 0, 0, 0);
  append_frame(stream, FrameKind::kMessage, 0, 0, 0);
  Recorder sink;
  FrameParser parser(0, sink);
  CHECK_FALSE(parser.take(stream));  // nothing follows a goodbye
}

// --- the send queue

struct Counted : Completion {
  int called = 0;
  Counted() {
    done = [](Completion& self) noexcept { ++static_cast<Counted&>(self).called; };
  }
};

TEST_CASE("the queue sends what a naive one would, however much leaves at a time") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    SendQueue queue;
    std::vector<Bytes> payloads;
    std::vector<std::unique_ptr<Counted>> completions;
    std::vector<std::size_t> ends;  // where in the stream the referred message of each completion ends
    Bytes expected, sent;
    const auto drain = [&](std::size_t most) {
      iovec pieces[5];
      const std::size_t count = queue.gather(pieces, 5, most);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < count; ++i) bytes += pieces[i].iov_len;
      CHECK(bytes <= most);
      std::size_t left = bytes =
          bytes == 0 ? 0 : 1 + random() % bytes;  // a socket takes less than it is offered
      for (std::size_t i = 0; i < count && left > 0; ++i) {
        const auto* from = static_cast<const std::byte*>(pieces[i].iov_base);
        const std::size_t piece = std::min(left, pieces[i].iov_len);
        sent.insert(sent.end(), from, from + piece);
        left -= piece;
      }
      queue.sent(bytes);
      for (std::size_t i = 0; i < ends.size(); ++i)
        CHECK(completions[i]->called == (sent.size() >= ends[i] ? 1 : 0));
    };
    payloads.reserve(400);
    for (int message = 0; message < 400; ++message) {
      Bytes head(1 + random() % 40);
      for (auto& byte : head) byte = static_cast<std::byte>(random());
      payloads.emplace_back(random() % 5 == 0 ? random() % 9000 : random() % 50);
      for (auto& byte : payloads.back()) byte = static_cast<std::byte>(random());
      const Bytes& payload = payloads.back();
      const std::size_t cut = payload.empty() ? 0 : random() % payload.size();
      const iovec parts[3] = {{const_cast<std::byte*>(payload.data()), cut},
                              {nullptr, 0},
                              {const_cast<std::byte*>(payload.data()) + cut, payload.size() - cut}};
      const std::size_t skip = queue.empty() ? random() % (head.size() + payload.size()) : 0;
      Bytes whole = head;
      whole.insert(whole.end(), payload.begin(), payload.end());
      expected.insert(expected.end(), whole.begin() + static_cast<std::ptrdiff_t>(skip), whole.end());
      if (random() % 3 == 0) {
        completions.push_back(std::make_unique<Counted>());
        ends.push_back(expected.size());
        queue.refer({head, parts, skip}, *completions.back());
      } else {
        queue.copy({head, parts, skip});
      }
      while (random() % 3 != 0) drain(1 + random() % 4000);
    }
    while (!queue.empty()) drain(100'000);
    CHECK(sent == expected);
    CHECK(queue.copied() == 0);
    CHECK(queue.references() == 0);
  }
}

TEST_CASE("a queue that is dropped gives every buffer back") {
  SendQueue queue;
  Counted one, two;
  const std::byte bytes[10] = {};
  const iovec part{const_cast<std::byte*>(bytes), 10};
  queue.refer({bytes, {&part, 1}}, one);
  queue.copy({bytes, {}});
  queue.refer({bytes, {&part, 1}}, two);
  queue.sent(5);
  queue.drop();
  CHECK(one.called == 1);
  CHECK(two.called == 1);
  CHECK(queue.empty());
  CHECK(queue.copied() == 0);
}

}  // namespace
}  // namespace tmpi::net::tcp
