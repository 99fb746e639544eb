#include "net/ofi/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/tcp/settings.hpp"

namespace tmpi::net::ofi {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ';' || c == '-';
  });
}

Result<void> set(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "provider") {
    if (!is_name(value))
      return Failure{fmt::format("--net ofi:{}: must be the name of a provider, as in ofi:tcp", value)};
    settings.provider = value;
    return {};
  }
  if (name == "interface") {
    const auto side = tcp::parse_settings(fmt::format("interface={}", value));
    if (!side) return side.failure();
    settings.interface = value;
    return {};
  }
  return Failure{
      fmt::format("--net ofi: there is no setting \"{}\"; there are provider= and interface=", name)};
}

}  // namespace

Result<Settings> parse_settings(std::string_view text) {
  Settings settings;
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t equals = word.find('=');
    Result<void> done = equals != std::string_view::npos
                            ? set(settings, word.substr(0, equals), word.substr(equals + 1))
                            : set(settings, first ? "provider" : word, word);
    if (!done) return done.failure();
  }
  return settings;
}

}  // namespace tmpi::net::ofi
