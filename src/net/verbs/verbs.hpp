// The verbs transport: docs/network.md, "verbs". One thread at a time, nothing blocks, and while somebody polls no
// system call is made but a look at the clock of what is rare: connections, deaths, the state of the port.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "net/verbs/link.hpp"

namespace tmpi::net::verbs {

class Verbs final : public Transport {
 public:
  /// `api`: libibverbs, or what a test puts in its place.
  static Result<std::unique_ptr<Transport>> create(const Api& api, std::string_view settings,
                                                   const Options& options, Sink& sink);
  ~Verbs() override;

  const Limits& limits() const noexcept override { return limits_; }
  int numa_node() const override { return device_->numa_node; }
  std::string describe() const override;
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
  Traffic traffic() const noexcept override { return hub_.traffic; }

 private:
  // What comes by tcp is kept until poll() has seen the frames that were there before.
  struct Side final : Sink {
    struct Message {
      int peer;
      SideId id;
      std::size_t bytes;
      Connect connect;
    };
    struct Loss {
      int peer;
      std::string why;
    };
    std::vector<Message> messages;
    std::vector<Loss> losses;
    Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                     std::size_t payload) noexcept override;
    void landed(int, void*) noexcept override {}
    void lost(int peer, const std::string& why) noexcept override { losses.push_back({peer, why}); }
  };
  static constexpr int kAtOnce = 32;  // completions that are asked for together
  using Completions = std::array<ibv_wc, kAtOnce>;

  explicit Verbs(const Options& options, Sink& sink);
  Result<void> open(const Api& api, const Settings& settings, const Options& options);
  Result<void> size_up(int nodes);

  bool poll_received() noexcept;
  bool poll_sent() noexcept;
  void take(const ibv_wc& completion) noexcept;
  bool flush_waiting() noexcept;
  void settle_owing() noexcept;
  bool tell_finished() noexcept;
  bool report_failing() noexcept;
  bool look_aside() noexcept;
  void take_events() noexcept;
  void port_changed(bool active) noexcept;
  void fail_all(const std::string& why) noexcept;
  bool round() noexcept;

  Side side_sink_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> side_;
  Hub hub_;
  std::vector<std::unique_ptr<Link>> links_;  // by node; null for this one
  Limits limits_;
  std::string address_;
  std::string no_cache_;  // why registrations are not kept
  tcp::Fd watch_;         // epoll: the completion channel, the adapter's events, tcp

  Completions stash_received_, stash_sent_;  // found by arm()
  int stashed_received_ = 0, stashed_sent_ = 0;
  bool armed_ = false;
  int connecting_ = 0;
  std::uint64_t aside_ = 0, aside_period_ = 0;  // ticks: the last look at tcp and the adapter's events
  std::uint64_t port_down_ = 0;                 // nanoseconds since when; 0: it is active
};

}  // namespace tmpi::net::verbs
