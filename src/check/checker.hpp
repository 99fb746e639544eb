// Checker: --check from the option to the warnings at the end. The room's interface for src/launch, and the
// place of what is kept for each rank.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "check/handles.hpp"
#include "observe/call_sites.hpp"

namespace tmpi::check {

/// Objects of one kind, made at one place, that were not freed when MPI was finalized.
struct Leak {
  std::string text;  ///< "communicators made by MPI_Comm_dup at heat.c:12"
  HandleKind kind;
  std::size_t count = 0;   ///< of all ranks
  std::vector<int> ranks;  ///< ascending
};

class Checker {
 public:
  /// Begins to check the ranks of this process. Once, before any rank runs.
  /// `recorded`: the calls are recorded, too (observe's recorders are what is called).
  static void begin(observe::DescribeCode describe, bool recorded);
  /// Null if nothing is checked.
  static Checker* instance() noexcept;

  /// What has been leaked so far; requests and communicators come first. A thread with a stack of usual size.
  std::vector<Leak> leaks();

  // For the checked calls.
  RankRecord& record(const mpi::Rank& rank) noexcept;
  /// MPI has been finalized by the rank: what it has left is a leak.
  void collect_leaks(RankRecord& rank);
  /// The rank that has a live object at this address, -1: none.
  int owner_of(const void* handle, HandleKind kind);
  /// "MPI_Send at heat.c:12". A thread with a stack of usual size.
  std::string readable(CallPlace place);

 private:
  struct Left {
    HandleKind kind;
    CallPlace made;
    int rank;
  };
  explicit Checker(observe::DescribeCode describe);

  const mpi::Rank* first_;
  const int count_;
  std::unique_ptr<RankRecord[]> ranks_;
  std::mutex mutex_;
  observe::CallSites sites_;
  std::vector<Left> left_;
};

}  // namespace tmpi::check
