#include "launch/report/line_merger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace tmpi::launch {

void LineMerger::output(int rank, int stream, std::string_view bytes) {
  const Source source = Source{rank} * 2 + stream - 1;
  const std::size_t newline = bytes.rfind('\n');
  if (newline == std::string_view::npos) return hold(source, bytes);
  release(source);
  emit(source, bytes.substr(0, newline + 1));
  hold(source, bytes.substr(newline + 1));
}

void LineMerger::hold(Source source, std::string_view text) {
  if (text.empty()) return;
  std::string& line = held_[source];
  line += text;
  held_bytes_ += text.size();
  if (line.size() > kLongestLine || held_bytes_ > kMostHeldBack) release(source);
}

void LineMerger::release(Source source) {
  if (held_.empty()) return;
  const auto found = held_.find(source);
  if (found == held_.end()) return;
  const std::string line = std::move(found->second);
  held_.erase(found);
  held_bytes_ -= line.size();
  emit(source, line);
}

void LineMerger::release(int rank) {
  release(Source{rank} * 2);
  release(Source{rank} * 2 + 1);
}

void LineMerger::release_when_idle() {
  if (held_.empty()) return;
  if (open_ != kNobody) return release(open_);
  release(held_.begin()->first);
}

void LineMerger::finish() {
  std::vector<Source> sources;
  for (const auto& [source, line] : held_) sources.push_back(source);
  std::ranges::sort(sources);
  for (Source source : sources) release(source);
}

void LineMerger::message(std::string_view text) {
  emit(kTmpirun, text);
}

void LineMerger::emit(Source source, std::string_view text) {
  if (open_ != kNobody && open_ != source) {
    sink_.append("\n");
    open_ = kNobody;
  }
  if (tags_ != Tags::kNone && source != kTmpirun) {
    emit_tagged(source, text);
  } else {
    sink_.append(text);
  }
  open_ = text.ends_with('\n') ? kNobody : source;
}

void LineMerger::emit_tagged(Source source, std::string_view text) {
  const std::int64_t rank = std::max<std::int64_t>(source >> 1, -1);  // of whichever node process
  const std::string tag = tags_ == Tags::kRank
                              ? fmt::format("[{}] ", rank)
                              : fmt::format("[1,{}]<{}>:", rank, (source & 1) == 0 ? "stdout" : "stderr");
  bool at_line_start = open_ != source;
  while (!text.empty()) {
    if (at_line_start) sink_.append(tag);
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    sink_.append(text.substr(0, length));
    at_line_start = text[length - 1] == '\n';
    text.remove_prefix(length);
  }
}

}  // namespace tmpi::launch
