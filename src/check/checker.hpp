// Checker: --check from the option to the warnings at the end. The room's interface for src/launch, and the
// place of what is kept for each rank.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/handles.hpp"
#include "mpi/comm/comm.hpp"
#include "observe/call_sites.hpp"

namespace tmpi::check {

/// Something that is told when the job ends, and of which ranks.
struct Finding {
  std::string text;
  std::vector<int> ranks;  ///< ascending
};

class Checker {
 public:
  /// Begins to check the ranks of this process. Once, before any rank runs.
  static void begin(observe::DescribeCode describe);
  /// Null if nothing is checked.
  static Checker* instance() noexcept;

  /// Objects that were not freed when MPI was finalized, by kind and place: "4 communicators made by
  /// MPI_Comm_dup at heat.c:12". Requests and communicators come first. A thread with a stack of usual size.
  std::vector<Finding> leaks();
  /// Messages that were there and that nobody had received: "2 messages with tag 5 on MPI_COMM_WORLD, the first from rank
  /// 3". Likewise.
  std::vector<Finding> unreceived();
  /// What the library accepts beyond the MPI report: "MPI_Reduce at heat.c:12: MPI_LXOR on MPI_DOUBLE".
  /// Likewise.
  std::vector<Finding> liberties() { return findings_of(liberties_); }
  /// Accesses to memory of windows whose outcome the report leaves open: "MPI_Put at heat.c:12: memory of member 1 of the
  /// window that rank 3 accesses by ...". Likewise.
  std::vector<Finding> races() { return findings_of(races_); }
  /// What is right, but may mean something else than it says: "MPI_Type_create_darray at heat.c:12: array_of_dargs[0] is
  /// 19 ...". Likewise.
  std::vector<Finding> ambiguities() { return findings_of(ambiguities_); }

  // For the checked calls.
  RankRecord& record(const mpi::Rank& rank) noexcept;
  /// The rank has been let do something that the report does not define; `text` says what.
  void note_liberty(const mpi::Rank& rank, CallPlace call, const std::string& text) {
    note(liberties_, rank, call, text);
  }
  /// What it does with a window races with what another call does.
  void note_race(const mpi::Rank& rank, CallPlace call, const std::string& text) {
    note(races_, rank, call, text);
  }
  /// It has said something that can be taken in two ways.
  void note_ambiguity(const mpi::Rank& rank, CallPlace call, const std::string& text) {
    note(ambiguities_, rank, call, text);
  }
  /// MPI has been finalized by the rank: what it has left is a leak, messages that it has left are lost.
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
  struct Unreceived {
    std::size_t count = 0;
    int first_source = 0;
    std::set<int> ranks;
  };
  explicit Checker(observe::DescribeCode describe);
  void collect_messages(const mpi::Rank& rank);

  std::vector<std::atomic<RankRecord*>>
      ranks_;  // by local index; null: none of its calls has been checked yet
  std::mutex mutex_;
  observe::CallSites sites_;
  std::vector<Left> left_;
  std::map<std::pair<mpi::ContextId, int>, Unreceived> unreceived_;  // by context and tag
  struct Noted {
    const Function* function;
    int rank;
  };
  using Notes =
      std::map<std::pair<const void*, std::string>, Noted>;  // by call site, each rank's own, and text
  void note(Notes& notes, const mpi::Rank& rank, CallPlace call, const std::string& text);
  std::vector<Finding> findings_of(const Notes& notes);
  Notes liberties_, ambiguities_, races_;
};

}  // namespace tmpi::check
