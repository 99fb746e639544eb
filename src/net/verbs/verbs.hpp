// The verbs transport: docs/design/network.md, "verbs". One thread at a time, nothing blocks, and while somebody polls no
// system call is made but a look at the clock of what is rare: connections, deaths, the state of the port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/tcp/side.hpp"
#include "net/verbs/link.hpp"

namespace tmpi::net::verbs {

class Verbs final : public Transport, private Reconnection {
 public:
  struct Watch {
    std::unique_ptr<UnmapWatch> watch;  ///< null: registrations are not kept
    std::string why_not;
  };
  /// Over one adapter. `api`: libibverbs, or what a test puts in its place.
  static Result<std::unique_ptr<Transport>> create(const Api& api, const Settings& settings,
                                                   const Options& options, Sink& sink, Watch watch);
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
  Reconnection* reconnection() noexcept override { return this; }
  ReceiveBuffers receive_buffers() const noexcept override;

 private:
  explicit Verbs(const Options& options, Sink& sink);
  Result<void> open(const Api& api, const Settings& settings, const Options& options, Watch watch);
  Result<void> size_up(const Options& options);

  bool poll_received() noexcept;
  bool poll_sent() noexcept;
  void take(FramePool& pool, const ibv_wc& completion) noexcept;
  void take_sent(const ibv_wc& completion) noexcept;
  void hear_goodbyes() noexcept;

  // reconnect.cpp
  bool prepare(int peer, std::size_t eager, Endpoint& mine) noexcept override;
  bool connect(int peer, const Endpoint& theirs) noexcept override;
  void send_by_new(int peer) noexcept override;
  void receive_by_new(int peer) noexcept override;
  void retire_old(int peer) noexcept override;
  void drop_new(int peer) noexcept override;
  FramePool* pool_for(std::size_t payload) noexcept;
  void retire_siblings() noexcept;
  void destroy_sibling(Link& first, Link& sibling) noexcept;
  void note_memory() noexcept;

  bool report_failing() noexcept;
  bool look_aside() noexcept;
  void take_events() noexcept;
  void watch_works() noexcept;
  bool port_is_active() const noexcept;
  std::string port_trouble() const;
  static std::string loss_of(const Link& link, const std::string& why);
  void fail_all(const std::string& why) noexcept;
  void stop_all() noexcept;
  bool round() noexcept;

  tcp::SideSink<SideId, Connect> side_sink_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> side_;
  Hub hub_;
  std::vector<std::unique_ptr<FramePool>> pools_;  // the first is everybody's
  std::vector<std::unique_ptr<Link>> links_;       // by node; null for this one
  Limits limits_;
  std::string address_;
  std::string no_cache_;  // why registrations are not kept
  Fd watch_;              // epoll: the completion channel, the adapter's events, tcp

  // By peer: its sibling that is being connected, the one that was used before, those that nothing is sent by any more.
  struct Switch {
    Link* next = nullptr;
    Link* old = nullptr;
  };
  std::vector<Switch> switches_;
  std::vector<Link*> retiring_;
  std::uint64_t most_bytes_ = 0;
  bool armed_ = false;
  int connecting_ = 0;
  std::uint64_t aside_ = 0, aside_period_ = 0;  // ticks: the last look at tcp and the adapter's events
  bool drained_ = false;                        // this round has seen all completions
  bool hurried_ = false;                        // the last round has dealt with nothing but what has come
  LookTime look_time_;
  std::uint64_t port_down_ = 0;  // nanoseconds since when; 0: it is active
};

}  // namespace tmpi::net::verbs
