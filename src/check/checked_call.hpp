// CheckedCall: one MPI call of the program under --check, from before the library is entered until it has
// returned. On the caller's stack. Ends the job if the call is a misuse, before the library sees it. Any
// thread of a rank; does not suspend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "check/handles.hpp"
#include "mpi/coll/args.hpp"

namespace tmpi::mpi {
struct Window;
}

namespace tmpi::check {

class CheckedCall {
 public:
  /// `words`: the arguments (base/words.hpp); they outlive the object. `frame`: of the function
  /// that the program's call is bound to (mpi/rank/bindings.hpp).
  CheckedCall(const Function& function, const std::uint64_t* words, const void* frame);
  ~CheckedCall();  // out of line: there are some six hundred callers
  CheckedCall(const CheckedCall&) = delete;
  CheckedCall& operator=(const CheckedCall&) = delete;

  /// The library has returned `result`.
  void returned(int result);

 private:
  /// A handle that the call may free or complete, as it was before.
  struct Saved {
    const void* handle = nullptr;
    std::uint64_t serial = 0;  ///< of the object, 0: null or predefined
  };

  struct Late {
    CollectiveCall call;
    const void* handle;
    int members;
  };

  // Arguments.
  std::uint64_t word(int argument) const { return words_[argument]; }
  template <class Pointer>
  Pointer pointer(int argument) const {
    return reinterpret_cast<Pointer>(words_[argument]);
  }
  MPI_Count number(int argument) const { return static_cast<MPI_Count>(words_[argument]); }
  MPI_Comm comm() const;
  const void* together() const;
  int length(const HandleUse& use) const;
  const void* const* handles_at(const HandleUse& use) const;
  CallPlace place() const { return {&function_, site_.address}; }
  static bool by_value(const HandleUse& use) {
    return use.use == Use::kIn || (use.use == Use::kQueried && use.length < 0);
  }

  // Before.
  void check_handles(bool types);
  Saved check_handle(const void* handle, const HandleUse& use, int index);
  void note_liberties();
  void note_cyclic_of_19();
  void note_markers(const HandleUse& use);
  bool significant(const HandleUse& use) const;
  void save(const Saved& saved);
  const Saved& saved(std::size_t index) const {
    return index < few_.size() ? few_[index] : more_[index - few_.size()];
  }
  void find_accesses();
  void find_rooted_accesses(const mpi::Comm& members, bool is_root);
  void find_neighbour_accesses(const mpi::Comm& members);
  void touch(int buffer, MPI_Count times, int count, int type, bool writes);
  void check_accesses();
  void start_requests();
  void check_access(const Access& access);
  void check_sides();
  struct Chunks {
    int sent;
    int received;
  };
  bool sides(const mpi::Comm& members, Chunks chunks, mpi::Side& send, mpi::Side& receive) const;
  void check_own_chunk(const mpi::Comm& members, const mpi::Side& send, const mpi::Side& receive) const;
  void check_neighbours(const mpi::Comm& members) const;
  void check_aliased(const mpi::Comm& members, const mpi::Side& send, const mpi::Side& receive) const;
  bool check_pending(const void* file) const;
  void check_collective();
  void tell_by_atomic();
  void check_one_sided();
  void order_before();
  void order_window_before(RankClocks& clocks, const mpi::Window& window);
  void order_after(bool succeeded);
  void order_window_after(RankClocks& clocks);
  void meet_nowhere();
  void part(RankClocks& clocks);
  void end_requests(RankClocks& clocks);
  void complete(RankClocks& clocks, Ledger& window, WindowAccesses::Completed how);
  std::shared_ptr<Ledger> window_ledger() const;
  OneSidedAccess one_sided(const mpi::Window& window, const Access& bytes, MPI_Datatype type) const;
  std::optional<OneSidedAccess> of_target(const mpi::Window& window, int target) const;
  std::optional<OneSidedAccess> of_buffer(const mpi::Window& window, int buffer, int counted, int typed,
                                          bool writes) const;
  bool takes_part_anyway() const;
  bool may_be_refused(const mpi::Comm& members, const void* handle) const;
  void arrive(const CollectiveCall& call, const void* handle, int members);
  void give_up();
  std::optional<CollectiveCall> describe(const mpi::Comm& members) const;
  bool describe_data(const mpi::Comm& members, CollectiveCall& call) const;
  void describe_agreed(CollectiveCall& call) const;
  void describe_view(CollectiveCall& call) const;
  MPI_Count sum_of_counts(int members) const;

  // After.
  void note_handles(bool succeeded);
  void note_made(const HandleUse& use);
  void note_contents(const HandleUse& use);
  void note_request(Tracked& request);
  void note_freed(const HandleUse& use, bool succeeded);
  void note_completed(const HandleUse& use);
  void note_queried();
  void note_split(bool succeeded);
  Tracked* still_there(const Saved& saved);

  const Function& function_;
  const std::uint64_t* const words_;
  mpi::Caller site_;
  RankRecord* record_ = nullptr;  // null: no rank calls
  bool initialized_ = false;      // MPI could be called when the call began
  std::array<Access, 2> accesses_;
  int access_count_ = 0;
  std::size_t saved_count_ = 0;
  std::array<Saved, 8> few_;
  std::vector<Saved> more_;
  std::shared_ptr<Ledger> ledger_;  // the call is in it
  std::shared_ptr<Ledger> window_;  // of a call that orders one-sided communication
  std::uint64_t sequence_ = 0;      // in ledger_
  int members_here_ = 0;
  std::optional<Late> late_;  // to be put into the ledger when the call has succeeded
};

}  // namespace tmpi::check
