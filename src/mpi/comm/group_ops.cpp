#include "mpi/comm/group_ops.hpp"

#include <algorithm>

#include "mpi/base/other_jobs.hpp"

namespace tmpi::mpi {
namespace {

bool same_order(const Group& a, const Group& b) {
  for (int rank = 0; rank < a.size(); ++rank) {
    if (a.world_rank(rank) != b.world_rank(rank)) return false;
  }
  return true;
}

bool same_members(const Group& a, const Group& b) {
  for (int rank = 0; rank < a.size(); ++rank) {
    if (b.rank_of(a.world_rank(rank)) == MPI_UNDEFINED) return false;
  }
  return true;
}

// The members of `a` whose membership in `b` is `wanted`.
GroupPtr filter(const GroupPtr& a, const Group& b, bool wanted) {
  std::vector<int> kept;
  for (int rank = 0; rank < a->size(); ++rank) {
    const int world = a->world_rank(rank);
    if ((b.rank_of(world) != MPI_UNDEFINED) == wanted) kept.push_back(world);
  }
  return static_cast<int>(kept.size()) == a->size() ? a : Group::list(std::move(kept));
}

}  // namespace

int compare(const Group& a, const Group& b) {
  if (&a == &b) return MPI_IDENT;
  if (a.size() != b.size()) return MPI_UNEQUAL;
  if (same_order(a, b)) return MPI_IDENT;
  return same_members(a, b) ? MPI_SIMILAR : MPI_UNEQUAL;
}

bool of_too_many_jobs(const Group& first, const Group& second) noexcept {
  if (!other_jobs().any()) return false;
  int other = 0;
  for (const Group* group : {&first, &second}) {
    for (int rank = 0; rank < group->size(); ++rank) {
      const int member = group->world_rank(rank);
      if (!of_other_job(member)) continue;
      if (other != 0 && job_of(member) != other) return true;
      other = job_of(member);
    }
  }
  return false;
}

bool spans_jobs(const Group& group) noexcept {
  if (!other_jobs().any()) return false;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (of_other_job(group.world_rank(rank))) return true;
  }
  return false;
}

GroupPtr unite(const GroupPtr& a, const GroupPtr& b) {
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(a->size()));
  for (int rank = 0; rank < a->size(); ++rank) members.push_back(a->world_rank(rank));
  for (int rank = 0; rank < b->size(); ++rank) {
    const int world = b->world_rank(rank);
    if (a->rank_of(world) == MPI_UNDEFINED) members.push_back(world);
  }
  return static_cast<int>(members.size()) == a->size() ? a : Group::list(std::move(members));
}

GroupPtr intersect(const GroupPtr& a, const GroupPtr& b) {
  return filter(a, *b, true);
}
GroupPtr subtract(const GroupPtr& a, const GroupPtr& b) {
  return filter(a, *b, false);
}

Err check_ranks(const Group& group, int n, const int ranks[]) {
  if (n < 0) return fail(MPI_ERR_ARG, "n is {}: it must not be negative", n);
  if (n > 0 && ranks == nullptr) return fail(MPI_ERR_ARG, "the list of ranks is NULL, but n is {}", n);
  if (n > group.size())
    return fail(MPI_ERR_ARG, "n is {}, but the group has {} members and each may be named once", n,
                group.size());
  std::vector<bool> seen(static_cast<std::size_t>(group.size()));
  for (int i = 0; i < n; ++i) {
    const int rank = ranks[i];
    if (rank < 0 || rank >= group.size())
      return fail(MPI_ERR_RANK, "ranks[{}] is {}, but the group has ranks 0 to {}", i, rank,
                  group.size() - 1);
    if (seen[static_cast<std::size_t>(rank)])
      return fail(MPI_ERR_RANK, "ranks[{}] is {}, which the list names before: ranks must be distinct", i,
                  rank);
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return kOk;
}

GroupPtr include(const GroupPtr& group, int n, const int ranks[]) {
  std::vector<int> members(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) members[static_cast<std::size_t>(i)] = group->world_rank(ranks[i]);
  return Group::list(std::move(members));
}

GroupPtr exclude(const GroupPtr& group, int n, const int ranks[]) {
  if (n == 0) return group;
  std::vector<bool> excluded(static_cast<std::size_t>(group->size()));
  for (int i = 0; i < n; ++i) excluded[static_cast<std::size_t>(ranks[i])] = true;
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(group->size() - n));
  for (int rank = 0; rank < group->size(); ++rank) {
    if (!excluded[static_cast<std::size_t>(rank)]) members.push_back(group->world_rank(rank));
  }
  return Group::list(std::move(members));
}

Err expand_ranges(const Group& group, int n, const int ranges[][3], std::vector<int>& ranks) {
  if (n < 0) return fail(MPI_ERR_ARG, "n is {}: it must not be negative", n);
  if (n > 0 && ranges == nullptr) return fail(MPI_ERR_ARG, "the list of ranges is NULL, but n is {}", n);
  for (int i = 0; i < n; ++i) {
    const long first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return fail(MPI_ERR_ARG, "ranges[{}] has stride 0", i);
    for (const long end : {first, last}) {
      if (end < 0 || end >= group.size())
        return fail(MPI_ERR_RANK, "ranges[{}] is ({}, {}, {}), but the group has ranks 0 to {}", i, first,
                    last, stride, group.size() - 1);
    }
    if (first != last && (last > first) != (stride > 0))
      return fail(MPI_ERR_ARG, "ranges[{}] is ({}, {}, {}): its stride leads away from its end", i, first,
                  last, stride);
    for (long rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      if (static_cast<long>(ranks.size()) >= group.size())
        return fail(MPI_ERR_RANK, "ranges[{}] names more ranks than the group has: ranks must be distinct",
                    i);
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return check_ranks(group, static_cast<int>(ranks.size()), ranks.data());
}

}  // namespace tmpi::mpi
