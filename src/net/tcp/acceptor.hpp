// Acceptor: where tcp listens: at each of some addresses. Who is let in, and how long others stay, is net/listener.hpp's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "net/listener.hpp"
#include "net/tcp/context.hpp"
#include "net/tcp/interfaces.hpp"

namespace tmpi::net::tcp {

using Objection = Listener::Objection;

class Acceptor final : private Listener::Owner {
 public:
  /// Who decides on proved peers, and gets their connections.
  class Owner {
   public:
    virtual Objection objection(int peer) noexcept = 0;
    virtual void connected(int peer, Fd fd) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Acceptor(Context& context, Owner& master) noexcept : context_(context), owner_(master) {}

  Result<void> listen(const std::vector<LocalAddress>& addresses, const Settings& settings);
  const std::vector<Endpoint>& endpoints() const noexcept { return endpoints_; }

  /// The epoll set says that there is a connection to accept, or bytes of a pending one.
  void on_listener(std::uint32_t index) noexcept { listener_.on_socket(index); }
  void on_pending(std::uint32_t index) noexcept { listener_.on_pending(index); }

  /// Closes pending connections that have not completed the handshake within kPatience.
  void sweep(std::uint64_t now) noexcept;
  /// When sweep() has something to do next; kNever: nothing.
  std::uint64_t next_time() const noexcept;

  static constexpr std::size_t kMostPending = 64;
  static constexpr std::uint64_t kPatience = 5'000'000'000;  ///< nanoseconds

 private:
  std::optional<Handshake> begin(int fd, std::size_t socket, std::size_t place) noexcept override;
  Objection objection(const Handshake& handshake) noexcept override;
  void connected(Listener::Pending& pending) noexcept override;
  void watch_sockets(bool watch) noexcept override;

  Context& context_;
  Owner& owner_;
  Listener listener_{*this, {kMostPending, 16, std::chrono::nanoseconds(kPatience)}};
  std::vector<Endpoint> endpoints_;  // of the listener's sockets
};

}  // namespace tmpi::net::tcp
