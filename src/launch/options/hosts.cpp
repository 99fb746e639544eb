#include "launch/options/hosts.hpp"

#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

namespace tmpi::launch {
namespace {

constexpr int kMostSlots = 1'000'000;
constexpr std::string_view kBlanks = " \t\r\f\v";

Result<int> parse_slots(std::string_view text) {
  int slots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (error != std::errc{} || end != text.data() + text.size() || slots < 1 || slots > kMostSlots)
    return Failure{fmt::format("'{}' is no number of slots (1 to {})", text, kMostSlots)};
  return slots;
}

/// "host", "host:4", "[fe80::1]:4"; an address with several colons and no brackets has no slots.
Result<HostSlots> parse_host(std::string_view text) {
  HostSlots one;
  std::string_view slots;
  const std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return Failure{fmt::format("'{}' has no ']'", text)};
    one.host = text.substr(1, bracket - 1);
    std::string_view rest = text.substr(bracket + 1);
    if (!rest.empty() && rest[0] != ':')
      return Failure{fmt::format("expected ':' and slots behind ']' in '{}'", text)};
    if (!rest.empty()) slots = rest.substr(1);
    if (!rest.empty() && slots.empty())
      return Failure{fmt::format("there is no number behind ':' in '{}'", text)};
  } else if (colon != std::string_view::npos && text.find(':') == colon) {
    one.host = text.substr(0, colon);
    slots = text.substr(colon + 1);
    if (slots.empty()) return Failure{fmt::format("there is no number behind ':' in '{}'", text)};
  } else {
    one.host = text;
  }
  // What begins with a dash would be an option of the remote shell.
  if (one.host.empty() || one.host.starts_with('-'))
    return Failure{fmt::format("'{}' is no name of a host", one.host)};
  if (slots.empty()) return one;
  const Result<int> number = parse_slots(slots);
  if (!number) return number.failure();
  one.slots = *number;
  return one;
}

void add(std::vector<HostSlots>& hosts, HostSlots one) {
  const auto known = std::ranges::find(hosts, one.host, &HostSlots::host);
  if (known == hosts.end()) {
    hosts.push_back(std::move(one));
  } else {
    known->slots = std::min(known->slots + one.slots, kMostSlots);
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

Result<HostSlots> parse_line(const std::vector<std::string_view>& words) {
  Result<HostSlots> one = parse_host(words.front());
  if (!one) return one;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos)
      return Failure{fmt::format("'{}' is not understood; a line is HOST, HOST:N or HOST slots=N", words[i])};
    if (words[i].substr(0, equals) != "slots") continue;
    const Result<int> slots = parse_slots(words[i].substr(equals + 1));
    if (!slots) return slots.failure();
    one->slots = *slots;
  }
  return one;
}

}  // namespace

Result<std::vector<HostSlots>> parse_host_list(std::string_view list) {
  std::vector<HostSlots> hosts;
  while (true) {
    const std::size_t comma = list.find(',');
    Result<HostSlots> one = parse_host(list.substr(0, comma));
    if (!one) return one.failure();
    add(hosts, *std::move(one));
    if (comma == std::string_view::npos) return hosts;
    list.remove_prefix(comma + 1);
  }
}

Result<std::vector<HostSlots>> parse_host_file(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    Result<HostSlots> one = parse_line(words);
    if (!one) return Failure{fmt::format("line {}: {}", number, one.message())};
    add(hosts, *std::move(one));
  }
  if (hosts.empty()) return Failure{"there is no host in it"};
  return hosts;
}

Result<std::vector<HostSlots>> read_host_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return Failure{fmt::format("cannot read the file: {}", strerror(errno))};
  return parse_host_file(text);
}

bool is_here(std::string_view host) {
  if (host == "localhost" || host == "127.0.0.1" || host == "::1") return true;
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  const std::string_view own = name;
  return !own.empty() && (host == own || host == own.substr(0, own.find('.')));
}

}  // namespace tmpi::launch
