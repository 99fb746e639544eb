// Endpoint: an IP address and a port, and their texts.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::net::tcp {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t length = 0;

  int family() const noexcept { return storage.ss_family; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  /// "10.0.0.1:4711", "[fd00::2]:4711".
  std::string text() const;
  /// Without the port.
  std::string host_text() const;
  /// The first `bits` bits of the address are equal.
  bool same_network(const Endpoint& other, unsigned bits) const noexcept;
  bool is_loopback() const noexcept;
  bool is_link_local() const noexcept;
};

Endpoint endpoint_of(const sockaddr* address) noexcept;
/// An address without a port: "10.0.0.1", "fd00::2".
std::optional<Endpoint> address_from_text(std::string_view text);
/// As Endpoint::text() writes it.
std::optional<Endpoint> endpoint_from_text(std::string_view text);

/// What Transport::address() says: "tcp 10.0.0.1:4711 [fd00::2]:4712".
std::string address_text(const std::vector<Endpoint>& endpoints);
Result<std::vector<Endpoint>> endpoints_from_text(std::string_view text);

}  // namespace tmpi::net::tcp
