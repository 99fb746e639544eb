#include "net/tcp/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tmpi::net::tcp {
namespace {

const sockaddr_in& v4(const Endpoint& endpoint) noexcept {
  return reinterpret_cast<const sockaddr_in&>(endpoint.storage);
}
const sockaddr_in6& v6(const Endpoint& endpoint) noexcept {
  return reinterpret_cast<const sockaddr_in6&>(endpoint.storage);
}

const unsigned char* address_bytes(const Endpoint& endpoint) noexcept {
  return endpoint.family() == AF_INET6 ? v6(endpoint).sin6_addr.s6_addr
                                       : reinterpret_cast<const unsigned char*>(&v4(endpoint).sin_addr);
}

std::optional<std::uint16_t> port_from_text(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::uint16_t Endpoint::port() const noexcept {
  return ntohs(family() == AF_INET6 ? v6(*this).sin6_port : v4(*this).sin_port);
}

void Endpoint::set_port(std::uint16_t port) noexcept {
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(storage).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
  }
}

std::string Endpoint::host_text() const {
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(family(), address_bytes(*this), text, sizeof text);
  return text;
}

std::string Endpoint::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host_text(), port())
                              : fmt::format("{}:{}", host_text(), port());
}

bool Endpoint::same_network(const Endpoint& other, unsigned bits) const noexcept {
  if (family() != other.family() || bits > (family() == AF_INET6 ? 128u : 32u)) return false;
  const unsigned char *mine = address_bytes(*this), *others = address_bytes(other);
  if (std::memcmp(mine, others, bits / 8) != 0) return false;
  return bits % 8 == 0 || ((mine[bits / 8] ^ others[bits / 8]) >> (8 - bits % 8)) == 0;
}

bool Endpoint::is_loopback() const noexcept {
  return family() == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6(*this).sin6_addr) : *address_bytes(*this) == 127;
}

bool Endpoint::is_link_local() const noexcept {
  if (family() == AF_INET6) return IN6_IS_ADDR_LINKLOCAL(&v6(*this).sin6_addr);
  const unsigned char* bytes = address_bytes(*this);
  return bytes[0] == 169 && bytes[1] == 254;
}

Endpoint endpoint_of(const sockaddr* address) noexcept {
  Endpoint endpoint;
  endpoint.length = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&endpoint.storage, address, endpoint.length);
  return endpoint;
}

std::optional<Endpoint> address_from_text(std::string_view text) {
  const std::string copy(text);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  if (inet_pton(AF_INET, copy.c_str(), &four.sin_addr) == 1)
    return endpoint_of(reinterpret_cast<const sockaddr*>(&four));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  if (inet_pton(AF_INET6, copy.c_str(), &six.sin6_addr) == 1)
    return endpoint_of(reinterpret_cast<const sockaddr*>(&six));
  return std::nullopt;
}

std::optional<Endpoint> endpoint_from_text(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const auto port = port_from_text(text.substr(colon + 1));
  auto endpoint = address_from_text(host);
  if (!port || !endpoint) return std::nullopt;
  endpoint->set_port(*port);
  return endpoint;
}

std::string address_text(const std::vector<Endpoint>& endpoints) {
  std::string text = "tcp";
  for (const Endpoint& endpoint : endpoints) text += " " + endpoint.text();
  return text;
}

Result<std::vector<Endpoint>> endpoints_from_text(std::string_view text) {
  const Failure failure{fmt::format(
      "\"{}\" is not the address of a tcp transport: do all node processes use the same --net?", text)};
  std::vector<Endpoint> endpoints;
  if (!text.starts_with("tcp ")) return failure;
  for (text.remove_prefix(3); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto endpoint = endpoint_from_text(text.substr(0, end));
    if (!endpoint) return failure;
    endpoints.push_back(*endpoint);
    text.remove_prefix(end);
  }
  return endpoints;
}

}  // namespace tmpi::net::tcp
