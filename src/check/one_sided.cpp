#include "check/one_sided.hpp"

#include <algorithm>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {
namespace {

constexpr std::size_t kMostRemembered = std::size_t{1} << 16;  // of one member's memory

// They begin at multiples of a unit from one another, so that none touches a part of another's.
bool same_units(const OneSidedAccess& a, const OneSidedAccess& b) {
  const std::uint64_t apart = std::max(a.bytes.begin, b.bytes.begin) - std::min(a.bytes.begin, b.bytes.begin);
  return a.unit == b.unit && apart % static_cast<std::uint64_t>(a.unit->size()) == 0;
}

// The later one of a rank: what races with the earlier one races with it, too.
bool like(const OneSidedAccess& a, const OneSidedAccess& b) {
  return a.local == b.local && a.bytes.blocks == 1 && b.bytes.blocks == 1 && a.bytes.begin == b.bytes.begin &&
         a.bytes.end == b.bytes.end && a.bytes.writes == b.bytes.writes && a.atomic == b.atomic &&
         a.unit == b.unit && a.exclusive == b.exclusive && a.locked == b.locked;
}

bool kept_apart(const OneSidedAccess& a, const OneSidedAccess& b) {
  return a.locked && b.locked && a.local != b.local && (a.exclusive || b.exclusive);
}

}  // namespace

bool race(const OneSidedAccess& a, const OneSidedAccess& b) {
  if (!a.bytes.writes && !b.bytes.writes) return false;
  if (a.atomic && b.atomic && (a.unit == nullptr || b.unit == nullptr || same_units(a, b))) return false;
  return overlap(a.bytes, b.bytes);
}

std::optional<OneSidedAccess> WindowAccesses::add(int whose, const OneSidedAccess& access, const Clock& clock,
                                                  RankClocks* everybody) {
  Side& side = sides_[whose];
  const std::uint64_t first = access.bytes.begin - std::min(access.bytes.begin, side.longest);
  const auto earlier = [&](const OneSidedAccess& one) {
    return one.done != 0 && time_of(one.local, clock) >= one.done;
  };
  Entry known = side.by_begin.end();
  for (auto one = side.by_begin.lower_bound(first);
       one != side.by_begin.end() && one->first < access.bytes.end; ++one) {
    if (!earlier(one->second) && !kept_apart(one->second, access) && race(one->second, access))
      return one->second;
    if (like(one->second, access)) known = one;
  }
  if (known != side.by_begin.end()) {
    const bool was_open = known->second.done == 0;
    known->second = access;
    if (was_open) return std::nullopt;
  } else {
    if (everybody != nullptr && side.by_begin.size() >= side.look_at) forget(side, *everybody);
    known = side.by_begin.emplace(access.bytes.begin, access);
    side.longest = std::max(side.longest, access.bytes.end - access.bytes.begin);
  }
  open_[access.local].push_back(known);
  return std::nullopt;
}

void WindowAccesses::complete(int rank, int target, Completed how, std::uint32_t now) {
  const auto mine = open_.find(rank);
  if (mine == open_.end()) return;
  std::erase_if(mine->second, [&](Entry entry) {
    OneSidedAccess& access = entry->second;
    if (target >= 0 && access.target != target) return false;
    if (how == Completed::kRequests && !access.by_request) return false;
    if (how != Completed::kEverywhere && !access.returns) return false;
    access.done = now;
    return true;
  });
}

std::size_t WindowAccesses::remembered(int whose) const {
  const auto side = sides_.find(whose);
  return side == sides_.end() ? 0 : side->second.by_begin.size();
}

// What everybody knows to be over races with nothing that is still to come.
void WindowAccesses::forget(Side& side, RankClocks& everybody) {
  const bool too_many = side.by_begin.size() >= kMostRemembered;
  std::erase_if(side.by_begin, [&](const auto& entry) {
    const OneSidedAccess& access = entry.second;
    return access.done != 0 && (too_many || everybody.known_to_all(access.local, access.done));
  });
  side.look_at = std::max<std::size_t>(256, 2 * side.by_begin.size());
}

}  // namespace tmpi::check
