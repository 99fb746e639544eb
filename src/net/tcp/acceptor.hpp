// Acceptor: listens, and accepts the connections of those who prove that they are nodes of this job. A connection
// is pending until then: at most kMostPending descriptors for at most kPatience each; when more come, the oldest
// is closed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "net/handshake.hpp"
#include "net/tcp/context.hpp"
#include "net/tcp/interfaces.hpp"

namespace tmpi::net::tcp {

/// Why a node that has proved who it is is not connected now; kNone: it is.
struct Objection {
  Refusal refusal = Refusal::kNone;
  const char* sentence = "";
};

class Acceptor {
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
  void on_listener(std::uint32_t index) noexcept;
  void on_pending(std::uint32_t index) noexcept;

  /// Closes pending connections that have not completed the handshake within kPatience.
  void sweep(std::uint64_t now) noexcept;
  /// When sweep() has something to do next; kNever: nothing.
  std::uint64_t next_time() const noexcept;

  static constexpr std::size_t kMostPending = 64;
  static constexpr std::uint64_t kPatience = 5'000'000'000;  ///< nanoseconds

 private:
  struct PendingConnection {
    Fd fd;
    Handshake handshake;
    std::uint64_t deadline;
  };

  std::uint32_t free_place() noexcept;
  void decide(PendingConnection& pending) noexcept;
  void pause_listening(bool pause) noexcept;

  Context& context_;
  Owner& owner_;
  std::vector<Fd> listeners_;
  std::vector<Endpoint> endpoints_;
  std::array<std::optional<PendingConnection>, kMostPending> pending_;
  std::size_t present_ = 0;
  std::uint64_t paused_until_ = kNever;  // while there are no descriptors left
};

}  // namespace tmpi::net::tcp
