// The communicators of a node process, as each of its ranks has them: the interface knows one rank a process, here one process has many.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "msgq/facts.hpp"
#include "msgq/memory.hpp"

namespace tmpi::msgq {

/// World ranks by their rank in the group, read when asked for.
class GroupView {
 public:
  GroupView(Memory& memory, Facts& facts, Address group);
  int size() const noexcept { return size_; }
  /// -1 for a rank that is none in the group.
  int world_rank(int rank) const noexcept;
  /// -1 for a world rank that is none of its members'.
  int rank_of(int world_rank) const noexcept;

 private:
  int first_ = 0, stride_ = 1, size_ = 0;
  std::vector<int> members_;  // empty: a range
};

/// A communicator of one rank.
struct View {
  Address rank = 0;
  int world_rank = 0;
  Address comm = 0;
  std::uint64_t context = 0;
  int rank_in_comm = 0;
  int size = 0;
  Address group = 0, peers = 0;  ///< the Groups: its members; whom ranks in messages mean
  bool self = false;             ///< MPI_COMM_SELF: all ranks' have the same context
  std::string name;              ///< with its rank's number: "MPI_COMM_WORLD [rank 3]"
};

/// Addresses of the ranks of the node process, by their order there; empty: MPI is not there yet.
std::vector<Address> ranks_of(Memory& memory, Facts& facts, Address job);
/// Those that the program can name, rank by rank: MPI_COMM_WORLD, MPI_COMM_SELF, then in the order in which they have been made.
std::vector<View> communicators_of(Memory& memory, Facts& facts, const std::vector<Address>& ranks);

}  // namespace tmpi::msgq
