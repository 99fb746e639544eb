// Listener: accepts connections, and keeps each until its other end has proved who it is (handshake.hpp). Until then it is
// *pending*: so many at most, each for a limited time. When more come, whoever has had the longest time to say who it is,
// and has not, is closed; so strangers who connect and say nothing keep nobody out. How sockets are watched is the owner's.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "net/handshake.hpp"

namespace tmpi::net {

/// The error is a lack of descriptors or of kernel memory, which may pass.
bool is_shortage(int error) noexcept;

class Listener {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t pending;           ///< at a time
    std::size_t accepted_at_once;  ///< a flood of connections must not keep the owner from its work
    Clock::duration patience;      ///< with each of them
  };

  struct Pending {
    Fd fd;
    Handshake handshake;
    Clock::time_point came, deadline;
  };

  /// Why somebody who has proved who it is is not connected; kNone: it is.
  struct Objection {
    Refusal refusal = Refusal::kNone;
    const char* sentence = "";
  };

  class Owner {
   public:
    /// A connection to the socket with this index, known as `place` from now on: sets its options, and watches it. The
    /// result is this end of the handshake; none: it is closed.
    virtual std::optional<Handshake> begin(int fd, std::size_t socket, std::size_t place) noexcept = 0;
    /// Of Handshake::answer_each(): it says who it is. use_secret() or refuse(); nothing while the secret is not known.
    virtual void named(Pending&) noexcept {}
    /// It has proved who it is.
    virtual Objection objection(const Handshake& handshake) noexcept = 0;
    /// It is accepted, and knows it; it is closed if the owner leaves the descriptor there.
    virtual void connected(Pending& pending) noexcept = 0;
    /// Whether the listening sockets are to be watched: not for a moment when there are no descriptors left.
    virtual void watch_sockets(bool) noexcept {}

   protected:
    ~Owner() = default;
  };

  Listener(Owner& owner, const Limits& limits) noexcept : owner_(owner), limits_(limits) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// A socket that listens and does not block. They are counted from 0.
  void add(Fd socket);
  int socket(std::size_t index) const noexcept { return sockets_[index].get(); }
  std::size_t sockets() const noexcept { return sockets_.size(); }
  /// False: no descriptors are left; the listening sockets are not to be watched until sweep() says so.
  bool accepting() const noexcept { return !paused_until_; }
  /// By place; some are empty.
  const std::vector<std::optional<Pending>>& pending() const noexcept { return pending_; }

  /// There is a connection to accept; there are bytes of a pending one, or room for some.
  void on_socket(std::size_t index) noexcept;
  void on_pending(std::size_t place) noexcept;
  /// More secrets are known: asks Owner::named() again.
  void on_secrets() noexcept;

  /// Closes those that have not completed the handshake in time.
  void sweep(Clock::time_point now) noexcept;
  /// When sweep() has something to do next.
  std::optional<Clock::time_point> next_time() const noexcept;
  /// This process has not run for so long.
  void extend(Clock::duration pause) noexcept;

 private:
  std::size_t free_place() noexcept;
  std::size_t first_to_yield() const noexcept;
  void forget(std::size_t place) noexcept;
  void decide(Pending& pending) noexcept;
  void on_shortage() noexcept;

  Owner& owner_;
  const Limits limits_;
  std::vector<Fd> sockets_;
  std::vector<std::optional<Pending>> pending_;
  std::size_t present_ = 0;
  std::optional<Clock::time_point> paused_until_;
};

}  // namespace tmpi::net
