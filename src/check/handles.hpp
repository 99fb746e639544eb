// Handles: the MPI objects of one rank that the program has a handle of, or had: made where, freed where.
// Addresses are used again, so a new object takes the place of a freed one. What is behind a handle is never
// looked at: it may be freed, or garbage.
//
// RankRecord: all that is kept for a rank. Its threads may call MPI, too: everything happens under `lock`,
// which is never held during a call of the library. Does not suspend.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "check/buffers.hpp"
#include "check/function.hpp"
#include "check/ledger.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::check {

/// A call in the program: `MPI_Send at heat.c:12`.
struct CallPlace {
  const Function* function = nullptr;
  const void* site = nullptr;  ///< return address
};

/// The order of a rank's collective calls on one communicator, window or file.
struct CallOrder {
  std::shared_ptr<Ledger> ledger;
  int members_here = 0;        ///< members in this node process: those that come to the ledger
  std::uint64_t sequence = 0;  ///< collectives that the rank has called
};

/// The operation of a request.
struct Operation {
  std::array<Access, 2> accesses;
  std::array<PendingBuffers::Map::iterator, 2> entries;
  int count = 0;
  bool persistent = false;
  bool pending = false;        ///< the accesses are among the pending ones
  MPI_Comm* later = nullptr;   ///< the communicator that is made when it completes
  const void* file = nullptr;  ///< that it reads or writes
};

/// Of a file, between the halves of a split collective operation.
struct Split {
  CallPlace begun;  ///< no function: none is open
  const void* buffer = nullptr;
  const sched::Task* flow = nullptr;  ///< of the rank or a thread of it: who has begun it has to end it
};

struct Tracked {
  HandleKind kind = HandleKind::kComm;
  bool live = false;
  bool constant = false;  ///< the library's own: no leak
  bool coming = false;    ///< a communicator whose MPI_Comm_idup is under way
  int handles = 0;        ///< the program has the same handle several times (MPI_Comm_get_errhandler)
  std::uint64_t serial = 0;
  CallPlace made;
  CallPlace freed;
  CallOrder order;
  Split split;
  std::unique_ptr<Operation> operation;
};

/// A nonblocking collective of which it is not known to be complete.
struct OpenCollective {
  std::shared_ptr<Ledger> ledger;
  std::uint64_t sequence;
  int members;
};

struct alignas(kCacheLine) RankRecord {
  SpinLock lock;
  const mpi::Rank* rank = nullptr;
  std::unordered_map<const void*, Tracked> handles;
  PendingBuffers pending;
  std::vector<OpenCollective> open_collectives;     ///< while RankClocks run
  std::vector<std::weak_ptr<Ledger>> by_request{};  ///< windows with calls whose requests may not be complete
  CallOrder world, self;
  std::uint64_t next_serial = 1;

  /// Null if there has never been an object at this address.
  Tracked* find(const void* handle) {
    const auto found = handles.find(handle);
    return found == handles.end() ? nullptr : &found->second;
  }
  /// An object has been made, or a handle of one given out once more.
  Tracked& add(const void* handle, HandleKind kind, CallPlace made, bool constant);
  /// A communicator will be made; add() when it is there.
  void announce(const void* comm, CallPlace made);
  /// A handle is gone; its operation has ended.
  void drop(Tracked& tracked, CallPlace freed);

  /// Its buffers are in use from now on.
  void begin_operation(Tracked& request);
  /// They are no longer; what it was to make has been made.
  void end_operation(Tracked& request);

  /// Of a communicator, window or file that is in use; null if there is nothing known of it.
  CallOrder* order_of(HandleKind kind, const void* handle);
};

/// The predefined handles are small numbers (MPI report, 20.3.1); they belong to everybody.
inline bool predefined(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) < 4096;
}

/// The communicator behind a handle that is known to be one; null: MPI_COMM_NULL, or there is no world.
const mpi::Comm* comm_of(const mpi::Rank& rank, MPI_Comm handle) noexcept;

/// The communicator of those who call together on a communicator, window or file, whose handle is known to be one; null:
/// there is none.
const mpi::Comm* members_of(const mpi::Rank& rank, HandleKind kind, const void* handle) noexcept;

}  // namespace tmpi::check
