// Communicators of groups alone, without a communicator to start from. MPI report, 7.4.2 and 7.6.2. Members
// find each other by the group and a tag of their own. The calling rank is a member. Arguments have been
// checked but for what is said. Both SUSPEND until all members have come.
#pragma once

#include <functional>
#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {

/// MPI_Comm_create_from_group. The new communicator has `errhandler` (null: the default).
Err create_from_group(const GroupPtr& group, const std::string& tag, Errhandler* errhandler, Comm*& created);

/// MPI_Intercomm_create_from_groups: the members of `local` and of `remote` come, each from its side.
/// What the leader alone has to know, `find` finds out, at the leader: its error is that of all members of `local`. No
/// communicator for them if the other group is empty.
struct OtherSide {
  GroupPtr group;
  int leader = 0;
};
Err create_from_groups(const GroupPtr& local, int local_leader, const std::function<Err(OtherSide&)>& find,
                       const std::string& tag, Errhandler* errhandler, Comm*& created);

}  // namespace tmpi::mpi
