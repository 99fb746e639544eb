#include "net/listener.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <utility>
#include <vector>

#include "net/handshake_io.hpp"

using namespace tmpi::net;
using tmpi::Fd;

namespace {

using Clock = Listener::Clock;
constexpr std::chrono::seconds kPatience{5};

Identity identity(int node) {
  Identity self;
  self.node = node;
  self.job = 4711;
  self.secret.bytes.fill(9);
  self.host = "here";
  return self;
}

// Listens on the loopback interface, and keeps who has proved who it is.
class Port final : private Listener::Owner {
 public:
  explicit Port(std::size_t pending) : listener{*this, {pending, pending, kPatience}} {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address_), length) == 0);
    REQUIRE(listen(socket.get(), 64) == 0);
    REQUIRE(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address_), &length) == 0);
    listener.add(std::move(socket));
  }

  // A connection, accepted here.
  Fd call() {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0);
    listener.on_socket(0);
    return socket;
  }

  std::size_t pending() const {
    std::size_t count = 0;
    for (const auto& one : listener.pending()) count += one ? 1 : 0;
    return count;
  }

  void serve_all() {
    for (std::size_t place = 0; place < listener.pending().size(); ++place) listener.on_pending(place);
  }

  Listener listener;
  std::vector<std::pair<int, Fd>> peers;

 private:
  std::optional<Handshake> begin(int, std::size_t, std::size_t) noexcept override {
    return Handshake::answer(identity(0));
  }
  Listener::Objection objection(const Handshake& handshake) noexcept override {
    if (handshake.peer() == 7) return {Refusal::kUnwanted, "seven is not wanted"};
    return {};
  }
  void connected(Listener::Pending& pending) noexcept override {
    peers.emplace_back(pending.handshake.peer(), std::move(pending.fd));
  }

  sockaddr_in address_{};
};

// The other end's part, until it is over.
Handshake shake_hands(Port& port, const Fd& socket, const Identity& self) {
  Handshake handshake = Handshake::initiate(self, 0);
  for (int i = 0; i < 1000 && !handshake.finished(); ++i) {
    pump(socket.get(), handshake);
    port.serve_all();
  }
  return handshake;
}

bool closed_there(const Fd& socket) {
  char byte = 0;
  return recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

}  // namespace

TEST_CASE("who proves who it is is connected; others are refused with a sentence, and closed") {
  Port port(4);
  const Fd good = port.call(), unwanted = port.call(), stranger = port.call();
  CHECK(port.pending() == 3);
  CHECK(shake_hands(port, good, identity(3)).state() == Handshake::State::kAccepted);
  const Handshake seven = shake_hands(port, unwanted, identity(7));
  CHECK(seven.refusal() == Refusal::kUnwanted);
  CHECK(seven.message().find("seven is not wanted") != std::string::npos);
  Identity without = identity(4);
  without.secret.bytes.fill(8);
  CHECK(shake_hands(port, stranger, without).state() == Handshake::State::kRefused);
  CHECK(port.pending() == 0);
  REQUIRE(port.peers.size() == 1);
  CHECK(port.peers[0].first == 3);
  CHECK_FALSE(closed_there(good));
}

TEST_CASE("the oldest that has said nothing yields to the next") {
  Port port(2);
  const Fd first = port.call(), second = port.call();
  CHECK_FALSE(closed_there(first));
  const Fd third = port.call();
  CHECK(port.pending() == 2);
  CHECK(closed_there(first));
  CHECK_FALSE(closed_there(second));
  CHECK(shake_hands(port, third, identity(1)).state() == Handshake::State::kAccepted);
}

TEST_CASE("who takes too long is closed, unless this process has not run") {
  Port port(2);
  const Fd socket = port.call();
  const auto now = Clock::now();
  REQUIRE(port.listener.next_time());
  CHECK(*port.listener.next_time() <= now + kPatience);
  port.listener.sweep(now);
  CHECK_FALSE(closed_there(socket));
  port.listener.extend(kPatience);
  port.listener.sweep(now + kPatience);
  CHECK_FALSE(closed_there(socket));
  port.listener.sweep(now + 2 * kPatience);
  CHECK(closed_there(socket));
  CHECK_FALSE(port.listener.next_time());
}
