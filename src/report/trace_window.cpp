#include "report/trace_window.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

namespace tmpi::report {
namespace {

// The writer puts each event on a line of its own (observe/trace_writer.cpp).
struct Line {
  bool name = false;   // of a track
  bool event = false;  // a slice, or an end of an arrow
  double begin = 0, end = 0;
};

double number_behind(const std::string& line, const char* key) {
  const std::size_t at = line.find(key);
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at + std::string_view(key).size(), nullptr);
}

Line understood(const std::string& line) {
  Line found;
  found.name = line.starts_with(R"({"ph":"M","name":"thread_name")");
  for (const char* kind : {R"({"ph":"X",)", R"({"ph":"s",)", R"({"ph":"f",)"})
    found.event |= line.starts_with(kind);
  if (!found.event) return found;
  found.begin = number_behind(line, R"("ts":)");
  found.end = found.begin + number_behind(line, R"("dur":)");
  return found;
}

template <class Visit>
void for_each_line(const std::string& path, Visit visit) {
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with(',')) line.pop_back();
    visit(line, understood(line));
  }
}

}  // namespace

std::string trace_window(const std::string& path, std::size_t most_events) {
  std::vector<double> begins;
  for_each_line(path, [&](const std::string&, const Line& line) {
    if (line.event) begins.push_back(line.begin);
  });
  if (begins.empty()) return {};
  std::ranges::sort(begins);
  const std::size_t shown = std::min(begins.size(), most_events), first = (begins.size() - shown) / 2;
  const double begin = begins[first], end = begins[first + shown - 1];
  std::string window;
  std::size_t events = 0;
  for_each_line(path, [&](const std::string& text, const Line& line) {
    // Of slices that reach into it no more than of its own: a rank is in few of them at a time.
    const bool inside = line.event && line.begin <= end && line.end >= begin && events < 2 * most_events;
    if (!inside && !line.name) return;
    events += line.event ? 1 : 0;
    window += (window.empty() ? "" : ",\n") + text;
  });
  return "{\"traceEvents\":[" + window + "]}";
}

}  // namespace tmpi::report
