#include "net/handshake.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "net/handshake_wire.hpp"

namespace tmpi::net {
namespace {

Identity identity(std::int32_t node, Role role = Role::kPeer) {
  Identity self;
  self.node = node;
  self.role = role;
  self.job = 77;
  for (std::size_t i = 0; i < self.secret.bytes.size(); ++i)
    self.secret.bytes[i] = static_cast<unsigned char>(i);
  self.host = "host" + std::to_string(node);
  return self;
}

// Moves what `from` wants to say to `to`, at most `most` bytes at a time. Returns whether anything moved.
bool carry(Handshake& from, Handshake& to, std::size_t most) {
  const auto bytes = from.to_send();
  if (bytes.empty()) return false;
  const std::size_t piece = std::min(most, bytes.size());
  REQUIRE(to.take(bytes.subspan(0, piece)) <= piece);
  from.sent(piece);
  return true;
}

void run(Handshake& initiator, Handshake& acceptor, std::size_t most = 4096) {
  for (bool moved = true; moved;) {
    moved = carry(initiator, acceptor, most);
    moved = carry(acceptor, initiator, most) || moved;
  }
}

TEST_CASE("two nodes of a job accept each other, however the stream is divided") {
  REQUIRE(prepare_proofs());
  for (std::size_t most : {1u, 2u, 63u, 64u, 159u, 160u, 161u, 4096u}) {
    CAPTURE(most);
    Handshake initiator = Handshake::initiate(identity(3), 5);
    Handshake acceptor = Handshake::answer(identity(5));
    run(initiator, acceptor, most);
    REQUIRE(acceptor.state() == Handshake::State::kClaimed);
    CHECK(initiator.state() == Handshake::State::kRunning);
    CHECK(acceptor.peer() == 3);
    CHECK(std::string(acceptor.peer_host()) == "host3");
    acceptor.accept();
    run(initiator, acceptor, most);
    CHECK(initiator.state() == Handshake::State::kAccepted);
    CHECK(initiator.finished());
    CHECK(acceptor.finished());
    CHECK(std::string(initiator.peer_host()) == "host5");
  }
}

TEST_CASE("bytes behind the handshake are not taken") {
  Handshake initiator = Handshake::initiate(identity(0, Role::kControl), kLauncherNode);
  Handshake acceptor = Handshake::answer(identity(kLauncherNode, Role::kControl));
  std::vector<std::byte> stream(initiator.to_send().begin(), initiator.to_send().end());
  stream.resize(stream.size() + 100);
  CHECK(acceptor.wanted() == 160);
  CHECK(acceptor.take(stream) == 260);  // the next message is an Answer of 160 bytes, 100 of which are there
  CHECK(acceptor.wanted() == 60);
  Handshake second = Handshake::answer(identity(kLauncherNode, Role::kControl));
  Handshake other = Handshake::initiate(identity(0, Role::kControl), kLauncherNode);
  run(other, second);
  second.accept();
  const auto last = second.to_send();
  stream.assign(last.begin(), last.end());
  stream.resize(stream.size() + 100);
  CHECK(other.take(stream) == last.size());
  CHECK(other.state() == Handshake::State::kAccepted);
  CHECK(other.wanted() == 0);
}

TEST_CASE("a wrong secret is found by the initiator, and both sides say so") {
  Identity stranger = identity(5);
  stranger.secret.bytes[31] ^= 1;
  Handshake initiator = Handshake::initiate(identity(3), 5);
  Handshake acceptor = Handshake::answer(stranger);
  run(initiator, acceptor);
  CHECK(initiator.refusal() == Refusal::kSecret);
  CHECK_FALSE(initiator.refused_by_peer());
  CHECK(acceptor.refusal() == Refusal::kSecret);
  CHECK(acceptor.refused_by_peer());
  CHECK(initiator.message().find("secret") != std::string::npos);
}

TEST_CASE("an acceptor that shares another secret with each peer") {
  Identity self = identity(5);
  self.secret = Secret();
  for (const bool right : {true, false}) {
    Handshake initiator = Handshake::initiate(identity(3), 5);
    Handshake acceptor = Handshake::answer_each(self);
    run(initiator, acceptor);
    REQUIRE(acceptor.state() == Handshake::State::kNamed);
    CHECK(acceptor.peer() == 3);
    CHECK(acceptor.wanted() == 0);
    CHECK(acceptor.to_send().empty());
    Secret secret = identity(3).secret;
    if (!right) secret.bytes[7] ^= 1;
    acceptor.use_secret(secret);
    run(initiator, acceptor);
    CHECK((acceptor.state() == Handshake::State::kClaimed) == right);
    CHECK((initiator.refusal() == Refusal::kSecret) == !right);
  }
  Handshake initiator = Handshake::initiate(identity(3), 5);
  Handshake acceptor = Handshake::answer_each(self);
  run(initiator, acceptor);
  acceptor.refuse("nobody of that number");
  run(initiator, acceptor);
  CHECK(initiator.message().find("nobody of that number") != std::string::npos);
}

TEST_CASE("an initiator without the secret that goes on regardless is refused by the acceptor") {
  Handshake honest = Handshake::initiate(identity(3), 5);
  Handshake acceptor = Handshake::answer(identity(5));
  carry(honest, acceptor, 4096);
  Answer forged{};
  std::memset(forged.proof.data(), 0x5a, forged.proof.size());
  acceptor.take(std::as_bytes(std::span(&forged, 1)));
  CHECK(acceptor.state() == Handshake::State::kRefused);
  CHECK(acceptor.refusal() == Refusal::kSecret);
}

TEST_CASE("a proof is of no use a second time, nor in the other direction") {
  Handshake initiator = Handshake::initiate(identity(3), 5);
  const std::vector<std::byte> hello(initiator.to_send().begin(), initiator.to_send().end());
  Handshake acceptor = Handshake::answer(identity(5));
  carry(initiator, acceptor, 4096);
  const std::vector<std::byte> reply(acceptor.to_send().begin(), acceptor.to_send().end());
  carry(acceptor, initiator, 4096);
  const std::vector<std::byte> proof(initiator.to_send().begin(), initiator.to_send().end());
  REQUIRE(proof.size() == sizeof(Answer));

  Handshake later = Handshake::answer(identity(5));  // another challenge
  later.take(hello);
  later.take(proof);
  CHECK(later.refusal() == Refusal::kSecret);

  Handshake mirrored = Handshake::answer(identity(5));
  mirrored.take(hello);
  mirrored.take(std::span(reply).subspan(sizeof(Hello)));
  CHECK(mirrored.refusal() == Refusal::kSecret);
}

TEST_CASE("another version is told apart, and both versions are named") {
  Identity old = identity(3);
  old.version = "0.0.9";
  SUBCASE("the initiator is old") {
    Handshake initiator = Handshake::initiate(old, 5);
    Handshake acceptor = Handshake::answer(identity(5));
    run(initiator, acceptor);
    CHECK(acceptor.refusal() == Refusal::kVersion);
    CHECK(initiator.refusal() == Refusal::kVersion);
    CHECK(acceptor.message().find("host3 runs tmpi 0.0.9, this is tmpi " + std::string(own_version())) !=
          std::string::npos);
    CHECK(initiator.message().find("this is tmpi 0.0.9") != std::string::npos);
  }
  SUBCASE("another protocol with a longer hello") {
    Preamble preamble{};
    std::memcpy(preamble.magic, kHandshakeMagic, sizeof kHandshakeMagic);
    preamble.protocol = kHandshakeProtocol + 1;
    std::memcpy(preamble.version, own_version(), std::strlen(own_version()));
    std::memcpy(preamble.host, "node17", 6);
    Handshake acceptor = Handshake::answer(identity(5));
    acceptor.take(std::as_bytes(std::span(&preamble, 1)));
    CHECK(acceptor.refusal() == Refusal::kVersion);
    CHECK(acceptor.message().starts_with("node17 runs another build of tmpi"));
    CHECK(acceptor.to_send().size() == sizeof(Hello) + sizeof(Answer));  // it says who it is before it leaves
  }
}

TEST_CASE("another job, node or role is refused at both ends") {
  Identity acceptor_self = identity(5);
  Identity initiator_self = identity(3);
  Refusal expected = Refusal::kWrongNode;
  std::int32_t meant = 5;
  SUBCASE("job") {
    acceptor_self.job = 78;
    expected = Refusal::kJob;
  }
  SUBCASE("node") {
    meant = 6;
  }
  SUBCASE("role") {
    initiator_self.role = Role::kControl;
  }
  Handshake initiator = Handshake::initiate(initiator_self, meant);
  Handshake acceptor = Handshake::answer(acceptor_self);
  run(initiator, acceptor);
  CHECK(acceptor.refusal() == expected);
  CHECK(initiator.refusal() == expected);
}

TEST_CASE("a foreign stream is refused at its first wrong byte") {
  const std::string foreign = "TMPX and so on";
  Handshake acceptor = Handshake::answer(identity(5));
  CHECK(acceptor.take(std::as_bytes(std::span(foreign).subspan(0, 3))) == 3);
  CHECK(acceptor.state() == Handshake::State::kRunning);
  acceptor.take(std::as_bytes(std::span(foreign).subspan(3, 1)));
  CHECK(acceptor.refusal() == Refusal::kGarbage);
  CHECK(acceptor.to_send().empty());  // nothing is told to strangers
  CHECK(acceptor.take(std::as_bytes(std::span(foreign))) == 0);
}

TEST_CASE("the user's refusal reaches the initiator with its sentence") {
  Handshake initiator = Handshake::initiate(identity(3), 5);
  Handshake acceptor = Handshake::answer(identity(5));
  run(initiator, acceptor);
  acceptor.refuse("the job is over");
  run(initiator, acceptor);
  CHECK(initiator.refusal() == Refusal::kNotNow);
  CHECK(initiator.message() == "host5 refuses the connection: the job is over");
}

TEST_CASE("text from outside is made printable") {
  Identity nasty = identity(3);
  nasty.host = "\x1b[31mred\n";
  Handshake initiator = Handshake::initiate(nasty, 5);
  Handshake acceptor = Handshake::answer(identity(5));
  carry(initiator, acceptor, 4096);
  CHECK(std::string(acceptor.peer_host()) == "?[31mred?");
}

TEST_CASE("any single wrong bit prevents an acceptance") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Handshake initiator = Handshake::initiate(identity(3), 5);
    Handshake acceptor = Handshake::answer(identity(5));
    const std::size_t flip = random() % (4 * 160 * 8);  // in the order of the stream
    std::size_t at = 0;
    const auto corrupt = [&](Handshake& from, Handshake& to) {
      std::vector<std::byte> bytes(from.to_send().begin(), from.to_send().end());
      if (flip / 8 >= at && flip / 8 < at + bytes.size()) bytes[flip / 8 - at] ^= std::byte(1 << flip % 8);
      at += bytes.size();
      from.sent(bytes.size());
      to.take(bytes);
    };
    corrupt(initiator, acceptor);
    corrupt(acceptor, initiator);
    corrupt(initiator, acceptor);
    // Bits that nobody looks at (reserved fields and the sentence of an Answer) may differ; a Hello's may
    // not.
    if (flip / 8 < 320) CHECK(acceptor.state() != Handshake::State::kClaimed);
  }
}

}  // namespace
}  // namespace tmpi::net
