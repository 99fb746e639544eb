// Doorman: listens, and lets in who proves to be a node of this job. Strangers cost at most kMostCallers
// descriptors for at most kPatience each; when more come, the one that has been there longest has to go.
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

class Doorman {
 public:
  /// Whom the doorman serves.
  class Master {
   public:
    virtual Objection objection(int peer) noexcept = 0;
    virtual void welcome(int peer, Fd fd) noexcept = 0;

   protected:
    ~Master() = default;
  };

  Doorman(Context& context, Master& master) noexcept : context_(context), master_(master) {}

  Result<void> listen(const std::vector<LocalAddress>& addresses, const Settings& settings);
  const std::vector<Endpoint>& endpoints() const noexcept { return endpoints_; }

  /// Somebody is at the door (the epoll set says so).
  void on_listener(std::uint32_t index) noexcept;
  void on_caller(std::uint32_t index) noexcept;

  /// Sends away who has had his time.
  void sweep(std::uint64_t now) noexcept;
  /// When there will be somebody to send away; kNever.
  std::uint64_t next_time() const noexcept;

  static constexpr std::size_t kMostCallers = 64;
  static constexpr std::uint64_t kPatience = 5'000'000'000;  ///< nanoseconds

 private:
  struct Caller {
    Fd fd;
    Handshake handshake;
    std::uint64_t deadline;
  };

  std::uint32_t free_place() noexcept;
  void decide(Caller& caller) noexcept;
  void pause_listening(bool pause) noexcept;

  Context& context_;
  Master& master_;
  std::vector<Fd> listeners_;
  std::vector<Endpoint> endpoints_;
  std::array<std::optional<Caller>, kMostCallers> callers_;
  std::size_t present_ = 0;
  std::uint64_t paused_until_ = kNever;  // while there are no descriptors left
};

}  // namespace tmpi::net::tcp
