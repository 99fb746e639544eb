// Group: an ordered set of processes, immutable and shared: all ranks of a node process that belong to a
// communicator hold the same object, and the world group is not stored as a list at all. MPI report,
// chapter 7.3.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tmpi::mpi {

class Group {
 public:
  /// The group of world ranks first, first + stride, ... (count of them; stride not 0), in O(1) memory.
  static std::shared_ptr<const Group> range(int first, int count, int stride = 1);
  /// Any list of distinct ranks; stored as a range if it is one. O(n log n).
  static std::shared_ptr<const Group> list(std::vector<int> world_ranks);
  /// The group of nobody.
  static const std::shared_ptr<const Group>& empty();

  int size() const noexcept { return size_; }
  /// World rank of the group's member `rank` (0 <= rank < size()).
  int world_rank(int rank) const noexcept {
    return members_.empty() ? first_ + rank * stride_ : members_[rank];
  }
  /// Rank in this group of a world rank, MPI_UNDEFINED if it is not a member. O(1) for ranges, O(log n) for
  /// lists.
  int rank_of(int world_rank) const noexcept;

 private:
  friend struct FactsOfRanks;  // mpi/diagnose/debugger_facts.cpp
  int first_ = 0;
  int stride_ = 1;
  int size_ = 0;
  std::vector<int> members_;                   // empty: a range
  std::vector<std::pair<int, int>> by_world_;  // (world rank, group rank), sorted; empty: a range
};

}  // namespace tmpi::mpi
