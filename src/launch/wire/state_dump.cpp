#include "launch/wire/state_dump.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "launch/wire/frames.hpp"
#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {
namespace {

bool alike(const RankPlace& a, const RankPlace& b) {
  return a.state == b.state && a.call == b.call && a.detail == b.detail;
}

}  // namespace

void add_rank(StateDump& dump, int rank, RankPlace place) {
  if (!dump.empty()) {
    StateDumpEntry& last = dump.back();
    if (last.first + last.count == rank && alike(last.place, place)) {
      const bool same = place.peer == last.place.peer;
      const bool next = place.peer >= 0 && last.place.peer >= 0 && place.peer == last.place.peer + last.count;
      if (last.count == 1 && !same && next) last.follow = true;
      if (last.follow ? next : same) {
        ++last.count;
        return;
      }
    }
  }
  dump.push_back({rank, 1, false, std::move(place)});
}

StateDump in_order(StateDump dump) {
  const auto before = [](const StateDumpEntry& a, const StateDumpEntry& b) { return a.first < b.first; };
  if (std::ranges::is_sorted(dump, before)) return dump;
  std::ranges::sort(dump, before);
  StateDump joined;
  for (const StateDumpEntry& entry : dump) {
    RankPlace place = entry.place;
    for (int i = 0; i < entry.count; ++i) {
      if (entry.follow) place.peer = entry.place.peer + i;
      add_rank(joined, entry.first + i, place);
    }
  }
  return joined;
}

std::string pack(const StateDump& dump) {
  std::string bytes;
  for (const StateDumpEntry& entry : dump) {
    const RankPlace& place = entry.place;
    append_record(
        bytes, StateDumpRecord{entry.first, entry.count, place.peer, static_cast<std::uint16_t>(place.state),
                               entry.follow, static_cast<std::uint16_t>(place.call.size()),
                               static_cast<std::uint16_t>(place.detail.size())});
    bytes += place.call;
    bytes += place.detail;
  }
  return bytes;
}

StateDump unpack_state_dump(std::string_view payload) {
  StateDump dump;
  StateDumpRecord record{};
  const auto take = [&payload](std::size_t length) {
    const std::string_view text = payload.substr(0, length);
    payload.remove_prefix(text.size());
    return std::string(text);
  };
  while (read_record(payload, record)) {
    RankPlace place{static_cast<RankState>(record.state), take(record.call_length),
                    take(record.detail_length), record.peer};
    dump.push_back({record.first, record.count, record.follow != 0, std::move(place)});
  }
  return dump;
}

namespace {

std::string words(const RankPlace& place, const std::string& detail) {
  std::string in_call = place.call.empty() ? "" : " in " + place.call;
  if (!detail.empty()) in_call += " " + detail;
  switch (place.state) {
    case RankState::kStarting:
      return "not started yet";
    case RankState::kRunning:
      return "running" + (place.call.empty() ? "" : ", in " + place.call);
    case RankState::kReady:
      return "ready to run" + in_call;
    case RankState::kBlocked:
      return place.call.empty() ? "waiting (for input, or for a call that gave no name)"
                                : "blocked" + in_call;
    case RankState::kFinished:
      return "finished";
    case RankState::kPolling:
      return "polling in vain with " + place.call;
  }
  return "in an unknown state";
}

// Alike ranks, whoever their peers are.
struct Group {
  RankPlace place;
  std::vector<std::pair<int, int>> ranges;
  std::vector<int> peers;
  int ranks = 0;
  bool one_peer = true;    // all have the same
  bool one_offset = true;  // all are as far from their peers

  void add(const StateDumpEntry& entry) {
    const int offset = entry.place.peer - entry.first;
    if (ranks > 0) {
      one_peer = one_peer && entry.place.peer == place.peer;
      one_offset = one_offset && offset == place.peer - ranges.front().first;
    } else {
      place = entry.place;
    }
    one_peer = one_peer && (!entry.follow || entry.count == 1);
    one_offset = one_offset && (entry.follow || entry.count == 1);
    ranges.emplace_back(entry.first, entry.count);
    for (int i = 0; i < (entry.follow ? entry.count : 1); ++i) peers.push_back(entry.place.peer + i);
    ranks += entry.count;
  }

  std::string peer() {
    if (place.peer < 0) return {};
    if (one_peer) return fmt::format("rank {}", place.peer);
    const int offset = place.peer - ranges.front().first;
    if (one_offset)
      return offset > 0 ? fmt::format("its rank + {}", offset) : fmt::format("its rank - {}", -offset);
    std::ranges::sort(peers);
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    std::vector<std::pair<int, int>> single;
    for (int peer : peers) single.emplace_back(peer, 1);
    return "one of " + rank_ranges(single);
  }

  std::string line() {
    std::string detail = place.detail;
    if (const std::size_t at = detail.find("{}"); at != std::string::npos) detail.replace(at, 2, peer());
    return fmt::format("  {}{}: {}\n", rank_ranges(ranges), ranks > 1 ? fmt::format(" ({})", ranks) : "",
                       words(place, detail));
  }
};

// Ranks alike but for their peers: one line for each distance to the peer, or for each peer, if these are
// few.
constexpr std::size_t kFew = 4;

std::string lines(const StateDump& alike) {
  std::map<int, Group> by_offset, by_peer;
  bool offsets = true, peers = true;
  for (const StateDumpEntry& entry : alike) {
    offsets = offsets && (entry.follow || entry.count == 1);
    peers = peers && (!entry.follow || entry.count == 1);
    by_offset[entry.place.peer - entry.first].add(entry);
    by_peer[entry.place.peer].add(entry);
  }
  std::string text;
  if (peers && by_peer.size() <= kFew) {
    for (auto& [peer, group] : by_peer) text += group.line();
  } else if (offsets && by_offset.size() <= kFew) {
    for (auto& [offset, group] : by_offset) text += group.line();
  } else {
    Group all;
    for (const StateDumpEntry& entry : alike) all.add(entry);
    text = all.line();
  }
  return text;
}

}  // namespace

std::string describe(const StateDump& dump) {
  std::map<std::tuple<RankState, std::string, std::string>, StateDump> groups;
  for (const StateDumpEntry& entry : dump)
    groups[{entry.place.state, entry.place.call, entry.place.detail}].push_back(entry);
  std::string text;
  for (const auto& [key, alike] : groups) text += lines(alike);
  return text;
}

}  // namespace tmpi::launch
