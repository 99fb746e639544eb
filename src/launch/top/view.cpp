#include "launch/top/view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "launch/wire/state_dump.hpp"

namespace tmpi::launch {
namespace {

constexpr int kCoresInLine = 16;

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

const char* plural(std::size_t count) {
  return count == 1 ? "" : "s";
}

// "12.3k": four characters that say enough.
std::string brief(double number) {
  static constexpr std::array<std::string_view, 5> kUnits{"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; number >= 1000 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return fmt::format("{:.{}f}{}", number, unit > 0 && number < 100 ? 1 : 0, kUnits[unit]);
}

std::string states(const StateDump& dump) {
  constexpr std::array<std::pair<RankState, const char*>, 6> kWords{{{RankState::kRunning, "running"},
                                                                     {RankState::kReady, "ready"},
                                                                     {RankState::kPolling, "polling"},
                                                                     {RankState::kBlocked, "blocked"},
                                                                     {RankState::kStarting, "starting"},
                                                                     {RankState::kFinished, "finished"}}};
  std::string text;
  for (const auto& [state, word] : kWords) {
    int count = 0;
    for (const StateDumpEntry& entry : dump) count += entry.place.state == state ? entry.count : 0;
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text.empty() ? "none has started yet" : text;
}

int ranks_in(const StateDump& dump) {
  int count = 0;
  for (const StateDumpEntry& entry : dump) count += entry.count;
  return count;
}

const NodeFigures* same_node(const JobFigures& job, const NodeFigures& node) {
  const auto found = std::ranges::find_if(
      job.nodes, [&](const NodeFigures& other) { return other.pid == node.pid && other.host == node.host; });
  return found == job.nodes.end() ? nullptr : &*found;
}

// Percent of the time between the two answers, by worker; empty: there is nothing to compare with.
std::vector<int> busy(const NodeFigures* before, const NodeFigures& now) {
  std::vector<int> percent;
  if (before == nullptr || now.time <= before->time || before->workers.size() != now.workers.size())
    return percent;
  const double time = static_cast<double>(now.time - before->time);
  for (std::size_t i = 0; i < now.workers.size(); ++i) {
    const double ran = static_cast<double>(now.workers[i].busy - before->workers[i].busy);
    percent.push_back(std::clamp(static_cast<int>(100 * ran / time + 0.5), 0, 100));
  }
  return percent;
}

void add_node(std::vector<std::string>& lines, const NodeFigures* before, const NodeFigures& now) {
  const std::vector<int> percent = busy(before, now);
  int ready = 0;
  for (const WorkerFigures& worker : now.workers) ready += worker.ready;
  std::string line = fmt::format("node {} (process {}): {} worker{}", now.host, now.pid, now.workers.size(),
                                 plural(now.workers.size()));
  if (!percent.empty()) {
    int sum = 0;
    for (const int each : percent) sum += each;
    const double seconds = static_cast<double>(now.time - before->time) * 1e-9;
    line += fmt::format(", {} % busy, {} switches/s", sum / static_cast<int>(percent.size()),
                        brief(static_cast<double>(now.switches - before->switches) / seconds));
  }
  lines.push_back(fmt::format("{}, {} rank{} ready, {}B resident", line, ready,
                              plural(static_cast<std::size_t>(ready)),
                              brief(static_cast<double>(now.memory))));
  for (std::size_t first = 0; first < percent.size(); first += kCoresInLine) {
    const std::size_t end = std::min(percent.size(), first + kCoresInLine);
    std::string cores = fmt::format("  busy, % ({:>3}-{:<3}):", first, end - 1);
    for (std::size_t i = first; i < end; ++i) cores += fmt::format(" {:>3}", percent[i]);
    lines.push_back(std::move(cores));
  }
}

void add_ranks(std::vector<std::string>& lines, const StateDump& dump) {
  const std::string text = describe(dump);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Bytes of the first `columns` characters.
std::size_t bytes_of(const std::string& line, int columns) {
  int left = columns;
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xc0) != 0x80;  // UTF-8
    if (begins && left-- == 0) break;
  }
  return at;
}

}  // namespace

std::string view(int job, const JobFigures& before, const JobFigures& now, Size size) {
  const StateDump dump = unpack_state_dump(now.dump);
  std::vector<std::string> lines;
  const int ranks = ranks_in(dump);
  lines.push_back(fmt::format("job {}: {}, {} rank{} on {} node{}", job, base_name(now.program), ranks,
                              plural(static_cast<std::size_t>(ranks)), now.nodes.size(),
                              plural(now.nodes.size())));
  lines.push_back("ranks: " + states(dump));
  for (const NodeFigures& node : now.nodes) add_node(lines, same_node(before, node), node);
  lines.emplace_back();
  add_ranks(lines, dump);
  const auto rows = static_cast<std::size_t>(size.rows);
  if (size.rows > 1 && lines.size() > rows) {
    const std::size_t hidden = lines.size() - (rows - 1);
    lines.resize(rows - 1);
    lines.push_back(fmt::format("  and {} more lines (tmpi-top --once {})", hidden, job));
  }
  std::string text;
  for (const std::string& line : lines) {
    text += size.columns > 0 ? line.substr(0, bytes_of(line, size.columns)) : line;
    text += '\n';
  }
  return text;
}

}  // namespace tmpi::launch
