// Stamp: what a member is about to do where members of a communicator come together, in one word. In a program
// that is right all stamps of one collective call are equal. They are compared before anybody looks at what the
// others have brought, so that members that do different things end with a sentence instead of a crash or
// wrong data: a member compares its stamp with that of its worker group, the last member those of the groups.
// What is in a stamp: coll/stamps.hpp. A few instructions per member; any thread; does not suspend.
#pragma once

#include <cstdint>

#include "mpi/comm/comm.hpp"
#include "mpi/shm/arrivals.hpp"

namespace tmpi::mpi {

using Stamp = std::uint64_t;

namespace detail {
/// Ends the job with a sentence; `there`: a member that may have come with the other stamp, or null. Registered
/// by coll (mismatch.cpp) when the library is loaded.
extern void (*g_report_mismatch)(const Comm& comm, Stamp mine, Stamp other, const Rank* there) noexcept;
}  // namespace detail

/// Does not return.
[[gnu::cold, gnu::noinline]] void stamps_differ(const Comm& comm, Stamp mine, Stamp other,
                                                const Rank* there) noexcept;

/// That of a worker group: of the members that have come. It stays for the next time, when it is mostly the
/// same again, so that nothing need be written. Belongs to the group's worker; read by the last member of all
/// groups.
class GroupStamp {
 public:
  /// The caller comes, with `arrivals` not counted yet.
  [[gnu::always_inline]] void meet(const GroupArrivals& arrivals, const Comm& comm, Stamp mine) noexcept {
    if (stamp_ != mine) [[unlikely]]
      change(arrivals, comm, mine);
  }
  void compare(const Comm& comm, Stamp mine) const noexcept {
    if (stamp_ != mine) [[unlikely]]
      stamps_differ(comm, mine, stamp_, first_);
  }
  Stamp stamp() const noexcept { return stamp_; }

 private:
  [[gnu::noinline]] void change(const GroupArrivals& arrivals, const Comm& comm, Stamp mine) noexcept {
    if (arrivals.arrived > 0) stamps_differ(comm, mine, stamp_, first_);
    stamp_ = mine;
    first_ = comm.owner;
  }

  Stamp stamp_ = 0;
  const Rank* first_ = nullptr;  // who has set it
};

}  // namespace tmpi::mpi
