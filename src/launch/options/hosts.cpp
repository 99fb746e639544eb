#include "launch/options/hosts.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "launch/options/text_file.hpp"

namespace tmpi::launch {
namespace {

constexpr int kMostSlots = 1'000'000;
constexpr std::size_t kMostHosts = 65'536;
constexpr std::size_t kLongestName = 512;  // user and host; DNS allows 253 for the latter
constexpr std::string_view kBlanks = " \t\r\f\v";

Result<int> parse_slots(std::string_view text) {
  int slots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (error != std::errc{} || end != text.data() + text.size() || slots < 1 || slots > kMostSlots)
    return Failure{fmt::format("'{}' is no number of slots (1 to {})", shown(text), kMostSlots)};
  return slots;
}

/// What begins with a dash would be an option of the remote shell, and the rest belongs to the formats.
bool is_name(std::string_view host) {
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 127 ||
           std::string_view("[],=#").find(c) != std::string_view::npos;
  };
  return !host.empty() && host.size() <= kLongestName && host[0] != '-' &&
         std::ranges::none_of(host, forbidden);
}

/// "host", "host:4", "[fe80::1]:4"; an address with several colons and no brackets has no slots.
Result<HostSlots> parse_host(std::string_view text) {
  HostSlots one;
  std::string_view slots;
  const std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return Failure{fmt::format("'{}' has no ']'", shown(text))};
    one.host = text.substr(1, bracket - 1);
    std::string_view rest = text.substr(bracket + 1);
    if (!rest.empty() && rest[0] != ':')
      return Failure{fmt::format("expected ':' and slots behind ']' in '{}'", shown(text))};
    if (!rest.empty()) slots = rest.substr(1);
    if (!rest.empty() && slots.empty())
      return Failure{fmt::format("there is no number behind ':' in '{}'", shown(text))};
  } else if (colon != std::string_view::npos && text.find(':') == colon) {
    one.host = text.substr(0, colon);
    slots = text.substr(colon + 1);
    if (slots.empty()) return Failure{fmt::format("there is no number behind ':' in '{}'", shown(text))};
  } else {
    one.host = text;
  }
  if (!is_name(one.host)) return Failure{fmt::format("'{}' is no name of a host", shown(one.host))};
  if (slots.empty()) return one;
  const Result<int> number = parse_slots(slots);
  if (!number) return number.failure();
  one.slots = *number;
  one.given = true;
  return one;
}

/// Hosts in the order in which they are named first.
class HostTable {
 public:
  /// False: there are too many.
  bool add(HostSlots one) {
    const auto [known, is_new] = index_.emplace(one.host, hosts_.size());
    if (!is_new) {
      HostSlots& host = hosts_[known->second];
      host.slots = std::min(host.slots + one.slots, kMostSlots);
      host.given = true;
      return true;
    }
    hosts_.push_back(std::move(one));
    return hosts_.size() <= kMostHosts;
  }
  bool empty() const { return hosts_.empty(); }
  std::vector<HostSlots> take() { return std::move(hosts_); }

 private:
  std::vector<HostSlots> hosts_;
  std::unordered_map<std::string, std::size_t> index_;
};

Failure too_many() {
  return Failure{fmt::format("there are more than {} hosts", kMostHosts)};
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
      return Failure{
          fmt::format("'{}' is not understood; a line is HOST, HOST:N or HOST slots=N", shown(words[i]))};
    if (words[i].substr(0, equals) != "slots") continue;
    const Result<int> slots = parse_slots(words[i].substr(equals + 1));
    if (!slots) return slots.failure();
    one->slots = *slots;
    one->given = true;
  }
  return one;
}

}  // namespace

Result<std::vector<HostSlots>> parse_host_list(std::string_view list) {
  HostTable hosts;
  while (true) {
    const std::size_t comma = list.find(',');
    Result<HostSlots> one = parse_host(list.substr(0, comma));
    if (!one) return one.failure();
    if (!hosts.add(*std::move(one))) return too_many();
    if (comma == std::string_view::npos) return hosts.take();
    list.remove_prefix(comma + 1);
  }
}

Result<std::vector<HostSlots>> parse_host_file(std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    return Failure{"there are zero bytes in it: it is no text file"};
  HostTable hosts;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string line = without_blanks_around_equals(whole.substr(0, whole.find('#')));
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    Result<HostSlots> one = parse_line(words);
    if (!one) return Failure{fmt::format("line {}: {}", number, one.message())};
    if (!hosts.add(*std::move(one))) return too_many();
  }
  if (hosts.empty()) return Failure{"there is no host in it"};
  return hosts.take();
}

Result<std::vector<HostSlots>> read_host_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path, "hosts");
  if (!text) return text.failure();
  return parse_host_file(*text);
}

std::string without_blanks_around_equals(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (kBlanks.find(line[i]) == kBlanks.npos) {
      out += line[i];
      continue;
    }
    const std::size_t next = std::min(line.find_first_not_of(kBlanks, i), line.size());
    const bool drop = out.ends_with('=') || (next < line.size() && line[next] == '=');
    if (!drop) out += ' ';
    i = next - 1;
  }
  return out;
}

bool is_here(std::string_view host) {
  if (host == "localhost" || host == "127.0.0.1" || host == "::1") return true;
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  const std::string_view own = name;
  return !own.empty() && (host == own || host == own.substr(0, own.find('.')));
}

}  // namespace tmpi::launch
