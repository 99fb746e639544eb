#include "net/verbs/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "net/tcp/settings.hpp"

namespace tmpi::net::verbs {
namespace {

std::optional<int> number(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return std::nullopt;
  return value;
}

Result<void> set(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "device") {
    if (value.empty()) return Failure{"--net verbs:device= needs the name of an adapter, as in verbs:mlx5_0"};
    const std::vector<std::string> names = names_of(value);
    for (auto name_at = names.begin(); name_at != names.end(); ++name_at)
      if (name_at->empty() || std::find(names.begin(), name_at, *name_at) != name_at)
        return Failure{
            fmt::format("--net verbs:{}: between and beside + must be the names of different adapters, as in "
                        "verbs:mlx5_0+mlx5_1",
                        value)};
    if (names.size() > kMostRails)
      return Failure{fmt::format("--net verbs:{}: a node process uses {} adapters at most, not {}", value,
                                 kMostRails, names.size())};
    settings.device = value;
  } else if (name == "port") {
    const auto port = number(value, 1, 255);
    if (!port) return Failure{fmt::format("--net verbs:port={}: must be a port's number, from 1", value)};
    settings.port = *port;
  } else if (name == "gid") {
    const auto gid = number(value, 0, 65535);
    if (!gid)
      return Failure{fmt::format(
          "--net verbs:gid={}: must be an index of the port's GID table, from 0 (`ibv_devinfo -v` shows it)",
          value)};
    settings.gid = *gid;
  } else if (name == "patience") {
    const auto seconds = number(value, 1, 3600);
    if (!seconds)
      return Failure{fmt::format("--net verbs:patience={}: must be seconds, from 1 to 3600", value)};
    settings.patience = *seconds;
  } else if (name == "interface") {
    settings.side = fmt::format("interface={}", value);
    if (const auto side = tcp::parse_settings(settings.side); !side) return side.failure();
  } else {
    return Failure{fmt::format(
        "--net verbs: there is no setting \"{}\"; there are device=, port=, gid=, interface= and patience=",
        name)};
  }
  return {};
}

}  // namespace

const char* const kSettingsHelp =
    "    DEVICE[,PORT[,GID]]  or by name; several: DEVICE+DEVICE\n"
    "    device=NAME          adapter, as `ibv_devices` lists it (default: InfiniBand, the fastest, the "
    "nearest)\n"
    "    port=N               port of the adapter (default: the first active one)\n"
    "    gid=N                index in the port's GID table (default on Ethernet: a RoCE v2 address of "
    "IPv4)\n"
    "    interface=NAME|ADDRESS|NETWORK  where the connections over tcp go by which queue pairs are "
    "connected\n"
    "    patience=SECONDS     how long an adapter may neither do what it was told nor give up (default: "
    "10)\n";

std::vector<std::string> names_of(std::string_view device) {
  std::vector<std::string> names;
  for (bool more = !device.empty(); more;) {
    const std::size_t end = device.find('+');
    names.emplace_back(device.substr(0, end));
    more = end != std::string_view::npos;
    if (more) device.remove_prefix(end + 1);
  }
  return names;
}

Result<Settings> parse_settings(std::string_view text) {
  constexpr std::string_view kPositions[] = {"device", "port", "gid"};
  Settings settings;
  for (std::size_t position = 0; !text.empty(); ++position) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t equals = word.find('=');
    const bool named = equals != std::string_view::npos;
    if (!named && position >= std::size(kPositions))
      return Failure{
          fmt::format("--net verbs: \"{}\" is no setting; write DEVICE,PORT,GID or name=value", word)};
    if (!named && word.empty()) continue;  // "verbs:,2": any adapter's port 2
    const Result<void> done = named ? set(settings, word.substr(0, equals), word.substr(equals + 1))
                                    : set(settings, kPositions[position], word);
    if (!done) return done.failure();
  }
  return settings;
}

}  // namespace tmpi::net::verbs
