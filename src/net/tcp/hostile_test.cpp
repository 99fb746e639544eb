// Strangers, old versions and liars at tcp's port, and at the far end of its connections, while a job runs.
#include <dirent.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "net/conformance_node.hpp"
#include "net/conformance_stamp.hpp"
#include "net/handshake_io.hpp"
#include "net/handshake_wire.hpp"
#include "net/tcp/acceptor.hpp"
#include "net/tcp/socket.hpp"

namespace tmpi::net::tcp {
namespace {

using namespace conformance;

constexpr std::uint64_t kJob = 4711;
const Subject kSubject{"tcp"};
const Subject kEncrypted{"tcp:encrypt"};

Secret the_secret() {
  Secret secret;
  secret.bytes.fill(0x17);
  return secret;
}

Endpoint endpoint_of(Node& node) {
  return endpoints_from_text(node.net().address())->front();
}

// Nodes of one job, all polled by this thread.
struct Job {
  std::vector<std::unique_ptr<Node>> nodes;

  explicit Job(int count, const std::vector<Secret>& secrets = {}, const Subject& subject = kSubject) {
    REQUIRE(prepare_proofs());
    for (int i = 0; i < count; ++i)
      nodes.push_back(std::make_unique<Node>(
          subject, i, count, kJob, secrets.empty() ? the_secret() : secrets[static_cast<std::size_t>(i)]));
    wire_up({});
  }
  // `instead`: where node 1 is said to be.
  void wire_up(const std::string& instead) {
    std::vector<Peer> peers;
    for (auto& node : nodes)
      peers.push_back({node->net().address(), "host" + std::to_string(node->number())});
    if (!instead.empty()) peers[1].address = instead;
    for (auto& node : nodes) REQUIRE(node->net().set_peers(peers));
  }
  bool drive(const std::function<bool()>& condition, double seconds = kSubject.patience) {
    return poll_until(nodes, condition, seconds);
  }
  void drive_for(double seconds) {
    drive([] { return false; }, seconds);
  }
  // One message from a to b, and one back.
  void talk(int a, int b) {
    for (const bool back : {false, true}) {
      const int from = back ? b : a;
      const int to = back ? a : b;
      Node& sender = *nodes[static_cast<std::size_t>(from)];
      Node& receiver = *nodes[static_cast<std::size_t>(to)];
      const std::size_t before = receiver.received.size();
      const std::uint64_t seed = ++seed_;
      const std::size_t size = seed % 5 == 0 ? 100'000 : 100;
      REQUIRE(sender.try_send(to, static_cast<std::uint8_t>(seed), to_header({seed, size}),
                              pattern(seed, size)) != Post::kNoResource);
      REQUIRE_MESSAGE(drive([&] { return receiver.received.size() > before; }), from << " to " << to);
      CHECK(is_intact(*receiver.received.back()));
    }
  }
  void check_nobody_lost() {
    for (auto& node : nodes) CHECK(node->lost_peers.empty());
  }

 private:
  std::uint64_t seed_ = 0;
};

// Somebody who connects to a port and says what he likes.
class Stranger {
 public:
  explicit Stranger(const Endpoint& endpoint) {
    fd_.reset(socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(connect(fd_.get(), endpoint.get(), endpoint.length) == 0);
  }
  void say(const void* bytes, std::size_t size) {
    (void)!send(fd_.get(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  // The other end has had enough of this one.
  bool shown_out() const {
    char bytes[4096];
    for (;;) {
      const ssize_t got = recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
      if (got < 0) return false;
    }
  }
  void reset() {
    const linger now{1, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

std::vector<char> noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<char> bytes(size);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

Identity as_node(int number, const char* version = own_version()) {
  Identity self{number, Role::kPeer, kJob, the_secret(), "somewhere"};
  self.version = version;
  return self;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_CASE("garbage at the port is shown out and disturbs nobody") {
  Job job(2);
  job.talk(0, 1);
  std::vector<std::unique_ptr<Stranger>> strangers;
  const auto stranger = [&]() -> Stranger& {
    strangers.push_back(std::make_unique<Stranger>(endpoint_of(*job.nodes[strangers.size() % 2])));
    return *strangers.back();
  };
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto bytes = noise(1 + seed * seed * 400, seed);
    stranger().say(bytes.data(), bytes.size());
    job.talk(0, 1);
  }
  for (const char* words : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\x02\x00\x01",
                            "SSH-2.0-OpenSSH_9\r\n", "TMPI\r\n\x1a\xfe and more"}) {
    stranger().say(words, std::strlen(words));
    job.talk(0, 1);
  }
  CHECK(job.drive([&] {
    return std::all_of(strangers.begin(), strangers.end(), [](const auto& one) { return one->shown_out(); });
  }));
  job.check_nobody_lost();
}

TEST_CASE("true beginnings with false ends, cut off anywhere") {
  Job job(2);
  Handshake model = Handshake::initiate(as_node(1), 0);
  const std::vector<std::byte> hello(model.to_send().begin(), model.to_send().end());
  for (std::size_t length = 0; length <= hello.size(); length += 8) {
    CAPTURE(length);
    Stranger cut(endpoint_of(*job.nodes[0]));
    cut.say(hello.data(), length);
    job.talk(0, 1);
    if (length % 16 == 0) cut.reset();
  }
  // The Hello is right, but it is an Answer without the secret that follows it.
  Stranger liar(endpoint_of(*job.nodes[0]));
  liar.say(hello.data(), hello.size());
  const auto answer = noise(sizeof(Answer), 1);
  liar.say(answer.data(), answer.size());
  Answer forged{};
  Stranger forger(endpoint_of(*job.nodes[0]));
  forger.say(hello.data(), hello.size());
  forger.say(&forged, sizeof forged);
  CHECK(job.drive([&] { return liar.shown_out() && forger.shown_out(); }));
  job.talk(0, 1);
  job.check_nobody_lost();
}

TEST_CASE("many who say little: bounded descriptors, bounded time, and there is always a way in") {
  Job job(3);
  job.talk(0, 1);
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(std::make_unique<Stranger>(endpoint_of(*job.nodes[0])));
    if (i % 10 == 0) job.talk(0, 1);
  }
  job.drive_for(0.1);
  CHECK(open_descriptors() <= before + strangers.size() + Acceptor::kMostPending);
  job.talk(2, 0);  // a node that was not connected yet
  // Slow ones: a byte of the magic now and then. And a node that is busy elsewhere for longer than a stranger
  // may stay: its handshake is cut off, which must do no harm.
  Job busy(2);
  REQUIRE(busy.nodes[0]->try_send(1, 9, to_header({9, 0}), {}) == Post::kDone);
  const auto all_shown_out = [&] {
    return std::all_of(strangers.begin(), strangers.end(), [](const auto& one) { return one->shown_out(); });
  };
  const double start = seconds_now();
  for (std::size_t byte = 0; seconds_now() < start + 5.6 || !all_shown_out(); ++byte) {
    REQUIRE(seconds_now() < start + kSubject.patience);
    if (byte < 6)
      for (auto& stranger : strangers) stranger->say(&kHandshakeMagic[byte], 1);
    job.drive_for(0.05);
    busy.nodes[1]->net().poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(busy.drive([&] { return busy.nodes[1]->received.size() == 1; }));
  busy.check_nobody_lost();
  job.talk(1, 2);
  job.check_nobody_lost();
}

TEST_CASE("a wrong secret is a lost peer, with this reason") {
  Secret wrong = the_secret();
  wrong.bytes[0] ^= 1;
  Job job(2, {the_secret(), wrong});
  job.nodes[0]->try_send(1, 0, {}, {});
  REQUIRE(job.drive([&] { return !job.nodes[0]->lost_peers.empty(); }));
  CHECK(job.nodes[0]->lost_peers[0].second.find("do not have the same job secret") != std::string::npos);
  CHECK(job.nodes[1]->lost_peers.empty());  // who knocked there? nobody it knows
  CHECK(job.nodes[1]->received.empty());
}

// Shakes hands with node 0 of the job as `self`. Who has taken too long over it, on a busy machine, is cut off and tries
// again, as a node would.
Handshake shake_hands(Job& job, const Identity& self, std::unique_ptr<Stranger>& caller) {
  for (int attempt = 0;; ++attempt) {
    caller = std::make_unique<Stranger>(endpoint_of(*job.nodes[0]));
    Handshake handshake = Handshake::initiate(self, 0);
    REQUIRE(job.drive([&] {
      pump(caller->fd(), handshake);
      return handshake.finished();
    }));
    if (handshake.refusal() != Refusal::kClosed || attempt == 5) return handshake;
  }
}

TEST_CASE("another version of tmpi is named, at either end") {
  Job job(2);
  std::unique_ptr<Stranger> old;
  const Handshake handshake = shake_hands(job, as_node(1, "0.0.1"), old);
  CHECK(handshake.refusal() == Refusal::kVersion);
  job.talk(0, 1);

  Job other(2);
  Endpoint address = *address_from_text("127.0.0.1");
  const Result<Fd> listener = listen_at(address, Settings{});
  REQUIRE(listener);
  other.wire_up(address_text({address}));
  other.nodes[0]->try_send(1, 0, {}, {});
  Fd fd;
  Handshake answer = Handshake::answer(as_node(1, "0.0.1"));
  REQUIRE(other.drive([&] {
    if (!fd) fd.reset(accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK));
    if (fd) pump(fd.get(), answer);
    return !other.nodes[0]->lost_peers.empty();
  }));
  CHECK(other.nodes[0]->lost_peers[0].second.find("somewhere runs tmpi 0.0.1, this is tmpi") !=
        std::string::npos);
}

TEST_CASE("a peer that proves itself and then talks nonsense is lost") {
  Job job(3);
  std::unique_ptr<Stranger> peer;
  REQUIRE(shake_hands(job, as_node(2), peer).state() == Handshake::State::kAccepted);
  const auto bytes = noise(5000, 7);
  peer->say(bytes.data(), bytes.size());
  REQUIRE(job.drive([&] { return !job.nodes[0]->lost_peers.empty(); }));
  CHECK(job.nodes[0]->lost_peers[0].first == 2);
  CHECK(job.nodes[0]->lost_peers[0].second.find("not the protocol") != std::string::npos);
  job.talk(0, 1);
}

// Somebody between node 0 and node 1 who hands on all that they say.
class Between {
 public:
  explicit Between(const Endpoint& node_1) : node_1_(node_1) {
    Result<Fd> listener = listen_at(own_, Settings{});
    REQUIRE(listener);
    listener_ = *std::move(listener);
  }
  std::string address() const { return address_text({own_}); }
  void carry() {
    if (!ends_[0]) {
      ends_[0].reset(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK));
      if (!ends_[0]) return;
      ends_[1].reset(socket(node_1_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
      REQUIRE(connect(ends_[1].get(), node_1_.get(), node_1_.length) == 0);
    }
    for (const std::size_t from : {0, 1}) {
      char bytes[1 << 16];
      const ssize_t got = recv(ends_[from].get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (got <= 0) continue;
      seen.append(bytes, static_cast<std::size_t>(got));
      if (change_next && got > 40) {
        bytes[got / 2] = static_cast<char>(bytes[got / 2] ^ 1);
        change_next = false;
      }
      for (ssize_t gone = 0; gone < got;)
        gone += std::max<ssize_t>(
            send(ends_[1 - from].get(), bytes + gone, static_cast<std::size_t>(got - gone), MSG_NOSIGNAL), 0);
    }
  }
  std::string seen;
  bool change_next = false;

 private:
  Endpoint node_1_;
  Endpoint own_ = *address_from_text("127.0.0.1");
  Fd listener_;
  Fd ends_[2];
};

TEST_CASE("with encrypt nobody between two nodes reads what they send, or changes it unseen") {
  bool encrypt = false;
  SUBCASE("plain") {
    encrypt = false;
  }
  SUBCASE("encrypt") {
    encrypt = true;
  }
  Job job(2, {}, encrypt ? kEncrypted : kSubject);
  Between between(endpoint_of(*job.nodes[1]));
  job.wire_up(between.address());
  const std::string said(3000, 'q');
  const auto send_from_0 = [&] {
    return job.nodes[0]->try_send(1, 0, {}, std::vector<std::byte>(said.size(), std::byte{'q'})) !=
           Post::kNoResource;
  };
  REQUIRE(send_from_0());
  REQUIRE(job.drive([&] {
    between.carry();
    return !job.nodes[1]->received.empty();
  }));
  CHECK(job.nodes[1]->received[0]->payload.size() == said.size());
  CHECK((between.seen.find(said.substr(0, 16)) != std::string::npos) == !encrypt);
  if (!encrypt) return;
  between.change_next = true;
  REQUIRE(send_from_0());
  REQUIRE(job.drive([&] {
    between.carry();
    return !job.nodes[1]->lost_peers.empty();
  }));
  CHECK(job.nodes[1]->received.size() == 1);
  CHECK(job.nodes[1]->lost_peers[0].second.find("was changed on the way") != std::string::npos);
}

TEST_CASE("a node that encrypts and one that does not refuse each other") {
  Job job(2, {}, kEncrypted);
  std::unique_ptr<Stranger> plain;
  CHECK(shake_hands(job, as_node(1), plain).state() == Handshake::State::kRefused);
}

TEST_CASE("nobody there, and somebody who always hangs up") {
  Job job(2);
  Endpoint address = *address_from_text("127.0.0.1");
  Fd socket_there;  // bound in either case, so that no other process of this machine gets the port
  bool hangs_up = false;
  SUBCASE("nobody") {
    hangs_up = false;
    socket_there.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(bind(socket_there.get(), address.get(), address.length) == 0);
    REQUIRE(getsockname(socket_there.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length) ==
            0);
  }
  SUBCASE("somebody") {
    hangs_up = true;
    Result<Fd> listener = listen_at(address, Settings{});
    REQUIRE(listener);
    socket_there = *std::move(listener);
  }
  job.wire_up(address_text({address}));
  job.nodes[0]->try_send(1, 0, {}, {});
  REQUIRE(job.drive([&] {
    if (hangs_up) Fd(accept4(socket_there.get(), nullptr, nullptr, SOCK_NONBLOCK));
    return !job.nodes[0]->lost_peers.empty();
  }));
  const std::string why = job.nodes[0]->lost_peers[0].second;
  CHECK_MESSAGE(why.find("cannot connect to node 1 on host host1 (" + address.text()) != std::string::npos,
                why);
  CHECK_MESSAGE((why.find(hangs_up ? "closed" : "Connection refused") != std::string::npos ||
                 (hangs_up && why.find("reset by peer") != std::string::npos)),
                why);
}

}  // namespace
}  // namespace tmpi::net::tcp
