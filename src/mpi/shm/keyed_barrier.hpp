// Keyed barriers: where ranks of one node process come together that share no communicator for it, or must
// not wait on it: the two leaders of a new intercommunicator (of a connection, too), the members of a group (MPI_Comm_create_group,
// MPI_Comm_create_from_group), nonblocking duplicates. A barrier is found by its key; any number exist at a
// time; each is gone when its last member has come, and its key may be used again. For making communicators
// only: a lock and an allocation per barrier. Members on several nodes: agreement.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/shm/arrivals.hpp"

namespace tmpi::mpi {

struct BarrierKey {
  enum class Purpose : unsigned char {
    kGroup,
    kLeaders,
    kFromGroup,
    kFromGroups,
    kFromGroupsSide,
    kDup,
    kPort,
    kJoin
  };
  /// Where members of several node processes come together: those of one process, for which stage of it.
  enum class Stage : unsigned char { kAll, kArrived, kMade };
  Purpose purpose = Purpose::kGroup;
  Stage stage = Stage::kAll;
  ContextId context = 0;               ///< of the communicator on whose behalf; 0: none
  std::string tag;                     ///< what the program calls it
  std::shared_ptr<const Group> group;  ///< who comes, in this order; null: the communicator's members
};

/// Everything that the key is made of but the stage, in one string of bytes; `group` is not null.
std::string text_of(const BarrierKey& key);

/// What the last member to come does for all: records[index] is what the member with that index has brought.
using ForAll = std::function<void(void** records)>;

/// The calling member arrives as number `index` of `members`, and brings `record`. The last one runs
/// `for_all`, on its fiber, then lets the others go on. True: it is over. False: `continuation` (null: the
/// caller waits) has been left behind, which may proceed on another thread. The record stays where it is
/// until then. Any member, each once. SUSPENDS without a continuation.
bool arrive_at(const BarrierKey& key, int members, int index, void* record, const ForAll& for_all,
               WaitingContinuation* continuation = nullptr);

}  // namespace tmpi::mpi
