// PendingBuffers: the memory of one rank's pending operations. An entry belongs to a request, whose Access
// stays where it is until it is removed. Callers hold the rank's lock; does not suspend.
#pragma once

#include <map>

#include "check/access.hpp"

namespace tmpi::check {

struct Tracked;  // handles.hpp

class PendingBuffers {
 public:
  struct Entry {
    const Access* access;
    const Tracked* owner;
  };
  using Map = std::multimap<std::uint64_t, Entry>;  // by begin

  Map::iterator add(const Access& access, const Tracked& owner);
  void remove(Map::iterator entry);
  /// An operation that must not go on beside `access`: one of both writes what the other touches. Null: none.
  const Entry* conflict(const Access& access) const;
  /// The owner of an operation on this file; null: none.
  const Tracked* of_file(const void* file) const;

 private:
  struct Side {
    Map entries;
    std::uint64_t longest = 0;  // of the entries since there was none
    const Entry* find(const Access& access) const;
  };
  Side reads_, writes_;
};

}  // namespace tmpi::check
