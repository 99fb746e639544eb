// Set operations on groups. MPI report, 7.3.2. Arguments have been checked where a check is named. O(n log n)
// at worst; none suspends.
#pragma once

#include <memory>

#include "mpi/base/error.hpp"
#include "mpi/comm/group.hpp"

namespace tmpi::mpi {

using GroupPtr = std::shared_ptr<const Group>;

/// MPI_IDENT, MPI_SIMILAR (same members, other order) or MPI_UNEQUAL.
int compare(const Group& a, const Group& b);

/// It has members of other jobs than this one. O(n) once there are any.
bool spans_jobs(const Group& group) noexcept;
/// They have, together, members of more jobs than a communicator can have, which is two. O(n) likewise.
bool of_too_many_jobs(const Group& first, const Group& second) noexcept;

/// The members of `a`, then those of `b` that are not in `a`.
GroupPtr unite(const GroupPtr& a, const GroupPtr& b);
/// The members of `a` that are (intersect) or are not (subtract) in `b`, in the order of `a`.
GroupPtr intersect(const GroupPtr& a, const GroupPtr& b);
GroupPtr subtract(const GroupPtr& a, const GroupPtr& b);

/// MPI_ERR_RANK unless all n ranks are members and distinct.
Err check_ranks(const Group& group, int n, const int ranks[]);
/// The members with these ranks, in their order; the others. check_ranks must have passed.
GroupPtr include(const GroupPtr& group, int n, const int ranks[]);
GroupPtr exclude(const GroupPtr& group, int n, const int ranks[]);

/// Expands n triplets (first, last, stride) into `ranks`. MPI_ERR_ARG for a stride of 0, MPI_ERR_RANK for
/// ranks that are no members.
Err expand_ranges(const Group& group, int n, const int ranges[][3], std::vector<int>& ranks);

}  // namespace tmpi::mpi
