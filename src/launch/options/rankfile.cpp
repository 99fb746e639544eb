#include "launch/options/rankfile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "launch/options/text_file.hpp"
#include "launch/system/words.hpp"

namespace tmpi::launch {
namespace {

constexpr int kMostRanks = 1'000'000;
constexpr std::string_view kForms = "a line is 'rank N=HOST slot=CORE' or 'rank N=HOST slot=SOCKET:CORE'";

/// -1: it is none.
int number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc() || end != text.data() + text.size() ? -1 : number;
}

/// "3", "1:3"; "*": any.
Result<RankCore> parse_slot(std::string_view text) {
  if (text == "*") return RankCore{};
  if (text.find_first_of(",-*") != text.npos)
    return Failure{
        fmt::format("slot={}: a rank runs on one core here, shared with other ranks or not; several cores "
                    "for its threads are what --bind-to none gives",
                    shown(text))};
  const std::size_t colon = text.find(':');
  RankCore core;
  if (colon != text.npos) core.socket = number_of(text.substr(0, colon));
  core.core = number_of(colon == text.npos ? text : text.substr(colon + 1));
  if (core.core < 0 || (colon != text.npos && core.socket < 0))
    return Failure{fmt::format("slot={} is not understood; {}", shown(text), kForms)};
  return core;
}

/// "N=HOST" and "slot=...", without blanks around '='.
struct Line {
  int rank = 0;
  ChosenPlace place;
};
Result<Line> parse_line(const std::vector<std::string>& words) {
  const Failure not_understood{fmt::format("'{}' is not understood; {}", shown(words.front()), kForms)};
  if (words.front() != "rank" || words.size() < 2 || words.size() > 3) return not_understood;
  const std::string_view assigned = words[1];
  const std::size_t equals = assigned.find('=');
  if (equals == assigned.npos) return not_understood;
  const int rank = number_of(assigned.substr(0, equals));
  if (rank < 0 || rank >= kMostRanks)
    return Failure{fmt::format("'{}' is no number of a rank", shown(assigned.substr(0, equals)))};
  Line line{rank, {std::string(assigned.substr(equals + 1)), {}}};
  if (line.place.host.empty()) return Failure{fmt::format("rank {} has no host", rank)};
  if (words.size() == 2) return line;
  const std::string_view slot = words[2];
  if (!slot.starts_with("slot=") && !slot.starts_with("slots=")) return not_understood;
  const Result<RankCore> core = parse_slot(slot.substr(slot.find('=') + 1));
  if (!core) return core.failure();
  line.place.core = *core;
  return line;
}

/// Each rank once, and none left out; cores for all of them, or for none.
Result<std::vector<ChosenPlace>> in_order(const std::vector<Line>& lines) {
  std::vector<ChosenPlace> places(lines.size());
  std::vector<bool> seen(lines.size(), false);
  for (const Line& line : lines) {
    const auto rank = static_cast<std::size_t>(line.rank);
    if (rank < seen.size() && seen[rank]) return Failure{fmt::format("rank {} has two lines", line.rank)};
    if (rank >= seen.size()) continue;  // then another one has none
    seen[rank] = true;
    places[rank] = line.place;
  }
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    if (!seen[rank]) return Failure{fmt::format("there is no line for rank {}", rank)};
    if ((places[rank].core.core < 0) != (places[0].core.core < 0))
      return Failure{fmt::format("rank {} and rank 0: one has a core, the other has none", rank)};
  }
  return places;
}

}  // namespace

Result<std::vector<ChosenPlace>> parse_rankfile(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::string> words =
        split_words(without_blanks_around_equals(whole.substr(0, whole.find('#'))));
    if (words.empty()) continue;
    const Result<Line> line = parse_line(words);
    if (!line) return Failure{fmt::format("line {}: {}", number, line.message())};
    lines.push_back(*line);
  }
  if (lines.empty()) return Failure{"there is no rank in it"};
  return in_order(lines);
}

Result<std::vector<ChosenPlace>> read_rankfile(const std::string& path) {
  const Result<std::string> text = read_text_file(path, "ranks");
  if (!text) return text.failure();
  return parse_rankfile(*text);
}

Result<std::vector<int>> resolve_hosts(const std::vector<ChosenPlace>& places, std::vector<HostSlots>& hosts,
                                       int nodes) {
  const bool named_here = hosts.empty() && nodes == 0;
  std::vector<int> numbers;
  for (const ChosenPlace& place : places) {
    const bool relative = place.host.starts_with("+n");
    if (relative) {
      const int number = number_of(std::string_view(place.host).substr(2));
      const int most = named_here ? 0 : std::max(nodes, static_cast<int>(hosts.size()));
      if (number < 0 || number >= most)
        return Failure{
            fmt::format("{} is the number of a host in --host or --hostfile, of which there are {}",
                        shown(place.host), most)};
      numbers.push_back(number);
      continue;
    }
    auto found = std::ranges::find(hosts, place.host, &HostSlots::host);
    if (found == hosts.end()) {
      if (!named_here)
        return Failure{fmt::format("host {} is not among those of {}", shown(place.host),
                                   nodes > 0 ? "--nodes, which are +n0, +n1, ..." : "--host or --hostfile")};
      const Result<std::vector<HostSlots>> one = parse_host_list(place.host);
      if (!one || one->size() != 1 || one->front().given)
        return Failure{fmt::format("'{}' is no name of a host", shown(place.host))};
      hosts.push_back(one->front());
      found = hosts.end() - 1;
    }
    numbers.push_back(static_cast<int>(found - hosts.begin()));
  }
  return numbers;
}

}  // namespace tmpi::launch
