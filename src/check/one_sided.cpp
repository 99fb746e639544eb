#include "check/one_sided.hpp"

#include <algorithm>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::check {
namespace {

// They begin at multiples of a unit from one another, so that none touches a part of another's.
bool same_units(const OneSidedAccess& a, const OneSidedAccess& b) {
  const std::uint64_t apart = std::max(a.bytes.begin, b.bytes.begin) - std::min(a.bytes.begin, b.bytes.begin);
  return a.unit == b.unit && apart % static_cast<std::uint64_t>(a.unit->size()) == 0;
}

// One is known, so that the other one finds nothing that it would not find.
bool like(const OneSidedAccess& a, const OneSidedAccess& b) {
  return a.bytes.blocks == 1 && b.bytes.blocks == 1 && a.bytes.end == b.bytes.end &&
         a.bytes.writes == b.bytes.writes && a.atomic == b.atomic && a.unit == b.unit;
}

}  // namespace

bool race(const OneSidedAccess& a, const OneSidedAccess& b) {
  if (!a.bytes.writes && !b.bytes.writes) return false;
  if (a.atomic && b.atomic && (a.unit == nullptr || b.unit == nullptr || same_units(a, b))) return false;
  return overlap(a.bytes, b.bytes);
}

std::optional<OneSidedAccess> EpochAccesses::add(std::uint64_t fence, int target,
                                                 const OneSidedAccess& access) {
  if (!epochs_.empty() && epochs_.rbegin()->first >= fence + kEpochs) return std::nullopt;
  Side& side = epochs_[fence][target];
  while (epochs_.begin()->first + kEpochs <= fence) epochs_.erase(epochs_.begin());
  const std::uint64_t first = access.bytes.begin - std::min(access.bytes.begin, side.longest);
  bool known = false;
  for (auto one = side.by_begin.lower_bound(first);
       one != side.by_begin.end() && one->first < access.bytes.end; ++one) {
    if (race(one->second, access)) return one->second;
    known = known || (one->first == access.bytes.begin && like(one->second, access));
  }
  if (known) return std::nullopt;
  side.by_begin.emplace(access.bytes.begin, access);
  side.longest = std::max(side.longest, access.bytes.end - access.bytes.begin);
  return std::nullopt;
}

}  // namespace tmpi::check
