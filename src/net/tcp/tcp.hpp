// The tcp transport: docs/design/network.md. One thread at a time, nothing blocks; sockets are watched by one epoll
// set, whose descriptor is what a sleeper watches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/tcp/acceptor.hpp"
#include "net/tcp/context.hpp"
#include "net/tcp/link.hpp"

namespace tmpi::net::tcp {

/// What every Tcp says of itself.
Limits limits(bool same_machine) noexcept;

class Tcp final : public Transport, private Acceptor::Owner {
 public:
  static Result<std::unique_ptr<Transport>> create(std::string_view settings, const Options& options,
                                                   Sink& sink);
  ~Tcp() override;

  const Limits& limits() const noexcept override { return limits_; }
  int numa_node() const override { return numa_node_; }
  std::string describe() const override { return description_; }
  const std::string& address() const noexcept override { return address_; }
  Result<void> set_peers(std::vector<Peer> peers) override;
  Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept override;
  Result<RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override;
  void conceal(const RemoteKey& key) noexcept override;
  Post get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept override;
  bool poll() noexcept override;
  Arming arm(bool patient) noexcept override;
  bool idle() const noexcept override;
  bool close(double seconds) noexcept override;
  Traffic traffic() const noexcept override;
  /// The peer has ended in an orderly way, or this end has: what is posted to it vanishes.
  bool gone(int peer) const noexcept { return links_[static_cast<std::size_t>(peer)]->gone(); }

 private:
  Tcp(const Options& options, Sink& sink);
  Result<void> open(const Settings& settings, bool same_machine);

  Objection objection(int peer) noexcept override;
  void connected(int peer, Fd fd) noexcept override;

  void harvest(int milliseconds) noexcept;
  bool work() noexcept;
  bool look_at_clock() noexcept;

  static constexpr int kPollsPerClock = 64;

  Limits limits_;
  Context context_;
  Acceptor acceptor_{context_, *this};
  std::vector<std::unique_ptr<Link>> links_;  // by node; null for this one
  std::vector<Link*> working_;                // those that poll() is serving
  std::vector<LocalAddress> own_addresses_;
  std::string address_;
  int numa_node_ = -1;  // of the first interface
  std::string description_;
  int polls_until_clock_ = 0;
  int peeks_left_ = 0;
  std::uint64_t last_poll_ = 0;  // ticks, when poll() returned
};

}  // namespace tmpi::net::tcp
