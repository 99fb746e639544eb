#include "net/tcp/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "net/tcp/endpoint.hpp"

namespace tmpi::net::tcp {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<void> set_interface(Settings& settings, std::string_view value) {
  const std::size_t slash = value.find('/');
  if (slash != std::string_view::npos) {
    const auto network = address_from_text(value.substr(0, slash));
    const auto bits = number<unsigned>(value.substr(slash + 1));
    if (!network || !bits || *bits > (network->family() == AF_INET6 ? 128u : 32u))
      return Failure{
          fmt::format("--net tcp:interface={}: not a network; write it like 10.0.0.0/8 or fd00::/16", value)};
  }
  if (value.empty())
    return Failure{"--net tcp:interface= needs the name of an interface, an address or a network"};
  settings.interface = value;
  return {};
}

Result<void> set_port(Settings& settings, std::string_view value) {
  const std::size_t dash = value.find('-');
  const auto first = number<std::uint16_t>(value.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number<std::uint16_t>(value.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first)
    return Failure{
        fmt::format("--net tcp:port={}: must be a port from 1 to 65535, or two with a dash between", value)};
  settings.first_port = *first;
  settings.last_port = *last;
  return {};
}

}  // namespace

Result<Settings> parse_settings(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view name = setting.substr(0, equals);
    const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
    Result<void> set = Failure{fmt::format(
        "--net tcp: there is no setting \"{}\"; there are interface=..., port=... and encrypt", setting)};
    if (name == "interface") set = set_interface(settings, value);
    if (name == "port") set = set_port(settings, value);
    if (setting == "encrypt") {
      settings.encrypt = true;
      set = {};
    }
    if (!set) return set.failure();
  }
  return settings;
}

}  // namespace tmpi::net::tcp
