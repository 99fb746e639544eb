#include "check/buffers.hpp"

#include <algorithm>

#include "check/handles.hpp"

namespace tmpi::check {

PendingBuffers::Map::iterator PendingBuffers::add(const Access& access, const Tracked& owner) {
  Side& side = access.writes ? writes_ : reads_;
  side.longest = std::max(side.longest, access.end - access.begin);
  return side.entries.emplace(access.begin, Entry{&access, &owner});
}

void PendingBuffers::remove(Map::iterator entry) {
  Side& side = entry->second.access->writes ? writes_ : reads_;
  side.entries.erase(entry);
  if (side.entries.empty()) side.longest = 0;
}

const PendingBuffers::Entry* PendingBuffers::Side::find(const Access& access) const {
  // What reaches into `access` begins at most the longest entry's length before it.
  const std::uint64_t first = access.begin - std::min(access.begin, longest);
  for (auto entry = entries.lower_bound(first); entry != entries.end() && entry->first < access.end;
       ++entry) {
    if (overlap(*entry->second.access, access)) return &entry->second;
  }
  return nullptr;
}

const PendingBuffers::Entry* PendingBuffers::conflict(const Access& access) const {
  const Entry* found = writes_.find(access);
  return found == nullptr && access.writes ? reads_.find(access) : found;
}

const Tracked* PendingBuffers::of_file(const void* file) const {
  for (const Side* side : {&reads_, &writes_}) {
    for (const auto& [begin, entry] : side->entries) {
      if (entry.owner->operation->file == file) return entry.owner;
    }
  }
  return nullptr;
}

}  // namespace tmpi::check
