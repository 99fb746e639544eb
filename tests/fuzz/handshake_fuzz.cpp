// The handshake, both ends of it. Random numbers are the same each time, so that a recorded handshake is a
// valid one, and what follows its proofs is reached.
#include <sodium.h>

#include "net/handshake.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tmpi::net;
using tmpi::fuzz::Bytes;
using tmpi::fuzz::require;

randombytes_implementation g_fixed = {
    .implementation_name = [] { return "fixed"; },
    .random = [] { return 4u; },
    .stir = nullptr,
    .uniform = nullptr,
    .buf = [](void* const buffer,
              const std::size_t size) { std::fill_n(static_cast<char*>(buffer), size, 4); },
    .close = nullptr};

Identity node(int number) {
  Identity self;
  self.node = number;
  self.job = 7;
  self.secret.bytes.fill(9);
  self.host = "fuzz";
  return self;
}

Handshake make(bool initiator) {
  return initiator ? Handshake::initiate(node(1), 0) : Handshake::answer(node(0));
}

// What an end has to say now.
Bytes spoken(Handshake& from) {
  const Bytes bytes(from.to_send().begin(), from.to_send().end());
  from.sent(bytes.size());
  return bytes;
}

// What each end hears in a handshake that succeeds or is refused.
void record(int argc, char** argv, bool accept) {
  Handshake initiator = make(true), acceptor = make(false);
  Bytes to_acceptor, to_initiator;
  for (int round = 0; round < 3; ++round) {
    const Bytes there = spoken(initiator);
    acceptor.take(there);
    to_acceptor.insert(to_acceptor.end(), there.begin(), there.end());
    if (acceptor.state() == Handshake::State::kClaimed) {
      accept ? acceptor.accept() : acceptor.refuse("no");
    }
    const Bytes back = spoken(acceptor);
    initiator.take(back);
    to_initiator.insert(to_initiator.end(), back.begin(), back.end());
  }
  require(initiator.state() == (accept ? Handshake::State::kAccepted : Handshake::State::kRefused));
  tmpi::fuzz::write_seed(argc, argv, accept ? "acceptor" : "acceptor-refusing", to_acceptor, 0);
  tmpi::fuzz::write_seed(argc, argv, accept ? "initiator" : "initiator-refused", to_initiator, 1);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  randombytes_set_implementation(&g_fixed);
  require(prepare_proofs());
  record(*argc, *argv, true);
  record(*argc, *argv, false);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tmpi::fuzz::Input input(data, size);
  Handshake handshake = make((input.choice(0) & 1) != 0);
  std::size_t said = 0, heard = 0;
  input.in_pieces([&](std::span<const std::byte> piece) {
    const std::size_t wanted = handshake.wanted();
    require(wanted <= 160);
    const std::size_t taken = handshake.take(piece);
    require(taken <= piece.size());
    heard += taken;
    if (handshake.state() == Handshake::State::kClaimed) {
      require((input.choice(0) & 1) == 0);
      (input.choice(1) & 1) != 0 ? handshake.refuse("fuzz") : handshake.accept();
    }
    said += spoken(handshake).size();
    return taken == piece.size();
  });
  // Never more than a handshake's worth, in either direction.
  require(heard <= 480 && said <= 480);
  if (handshake.state() != Handshake::State::kRunning) require(handshake.wanted() == 0);
  // What is told to the user is printable.
  for (const char byte : handshake.message()) require(byte >= ' ' && byte < 127);
  return 0;
}
