// Gatherings: where ranks of one node process come together that share no communicator for it, or must not
// wait on it: the two leaders of a new intercommunicator, the members of a group (MPI_Comm_create_group,
// MPI_Comm_create_from_group), nonblocking duplicates. A gathering is found by its name; any number exist at
// a time; each is gone when its last member has come, and its name may be used again. For making
// communicators only: a lock and an allocation per gathering. Members on several nodes: agreement.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

struct GatheringName {
  enum class Purpose : unsigned char { kGroup, kLeaders, kFromGroup, kFromGroups, kFromGroupsSide, kDup };
  /// Of a gathering of several node processes, what the members of one meet for.
  enum class Stage : unsigned char { kAll, kArrived, kMade };
  Purpose purpose;
  Stage stage = Stage::kAll;
  ContextId context = 0;               ///< of the communicator on whose behalf; 0: none
  std::string tag;                     ///< what the program calls it
  std::shared_ptr<const Group> group;  ///< who comes, in this order; null: the communicator's members
};

/// Everything that the name is made of but the stage, in one string of bytes; `group` is not null.
std::string text_of(const GatheringName& name);

/// What the last member to come does for all: orders[seat] is what the member in that place has brought.
using Fulfil = std::function<void(void** orders)>;

/// Takes place `seat` of `seats` in a gathering and brings `order`. Whoever comes last runs `fulfil`, on its
/// fiber, then completes all members' requests. Order and request stay where they are until then. Any member,
/// each once. Does not suspend.
void gather(const GatheringName& name, int seats, int seat, void* order, Request& request,
            const Fulfil& fulfil);

/// The same, and waits until all have come. SUSPENDS.
void gather_and_wait(const GatheringName& name, int seats, int seat, void* order, const Fulfil& fulfil);

}  // namespace tmpi::mpi
