// The ofi transport: docs/design/network.md, "ofi". One thread at a time, nothing blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/ofi/link.hpp"
#include "net/tcp/side.hpp"

namespace tmpi::net::ofi {

class Ofi final : public Transport {
 public:
  static Result<std::unique_ptr<Transport>> create(const Api& api, std::string_view settings,
                                                   const Options& options, Sink& sink);
  ~Ofi() override;

  const Limits& limits() const noexcept override { return limits_; }
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
  Ofi(const Options& options, Sink& sink);
  Result<void> open(const Api& api, const Settings& settings, const Options& options);

  bool take_completions() noexcept;
  void take(const fi_cq_msg_entry& entry) noexcept;
  void take_received(Frame* frame, std::size_t bytes) noexcept;
  void take_done(Work& work, const std::string& error) noexcept;
  void take_error() noexcept;
  void read_blocked() noexcept;
  bool end_ending() noexcept;
  bool look_aside() noexcept;

  tcp::SideSink<SideId, Connect> side_sink_;
  std::unique_ptr<Fabric> fabric_;
  FramePool frames_;
  std::unique_ptr<Transport> side_;
  Hub hub_;
  std::vector<std::unique_ptr<Link>> links_;  // by node; null for this one
  Limits limits_;
  std::string address_;
  Fd watch_;                                    // epoll: completions, tcp
  std::uint64_t aside_ = 0, aside_period_ = 0;  // ticks: the last look at tcp
  int connecting_ = 0;
};

}  // namespace tmpi::net::ofi
