#include "launch/picture.hpp"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "launch/frames.hpp"
#include "launch/rank_ranges.hpp"

namespace tmpi::launch {

void add_rank(std::vector<PictureEntry>& picture, int rank, RankState state, std::string_view call) {
  if (!picture.empty()) {
    PictureEntry& last = picture.back();
    if (last.first + last.count == rank && last.state == state && last.call == call) {
      ++last.count;
      return;
    }
  }
  picture.push_back({rank, 1, state, std::string(call)});
}

std::string pack(const std::vector<PictureEntry>& picture) {
  std::string bytes;
  for (const PictureEntry& entry : picture) {
    append_record(bytes, PictureRecord{entry.first, entry.count, static_cast<std::uint16_t>(entry.state),
                                       static_cast<std::uint16_t>(entry.call.size())});
    bytes += entry.call;
  }
  return bytes;
}

std::vector<PictureEntry> unpack_picture(std::string_view payload) {
  std::vector<PictureEntry> picture;
  PictureRecord record{};
  while (read_record(payload, record)) {
    const std::string_view call = payload.substr(0, record.name_length);
    payload.remove_prefix(call.size());
    picture.push_back({record.first, record.count, static_cast<RankState>(record.state), std::string(call)});
  }
  return picture;
}

namespace {

std::string place(RankState state, const std::string& call) {
  const std::string in_call = call.empty() ? "" : " in " + call;
  switch (state) {
    case RankState::kStarting:
      return "not started yet";
    case RankState::kRunning:
      return "running" + in_call;
    case RankState::kReady:
      return "ready to run" + in_call;
    case RankState::kBlocked:
      return call.empty() ? "waiting (for input, or for a call that gave no name)" : "blocked in " + call;
    case RankState::kFinished:
      return "finished";
  }
  return "in an unknown state";
}

}  // namespace

std::string describe(const std::vector<PictureEntry>& picture) {
  struct Group {
    std::vector<std::pair<int, int>> ranges;
    int ranks = 0;
  };
  std::map<std::pair<RankState, std::string>, Group> groups;
  for (const PictureEntry& entry : picture) {
    Group& group = groups[{entry.state, entry.call}];
    group.ranges.emplace_back(entry.first, entry.count);
    group.ranks += entry.count;
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    text +=
        fmt::format("  {}{}: {}\n", rank_ranges(group.ranges),
                    group.ranks > 1 ? fmt::format(" ({})", group.ranks) : "", place(key.first, key.second));
  }
  return text;
}

}  // namespace tmpi::launch
