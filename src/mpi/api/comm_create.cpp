// Making communicators. MPI report, 7.4.2.
#include "mpi/api/profiled.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"

namespace tmpi::mpi {
namespace {

MPI_Comm handle_of(const Comm* comm) {
  return comm == nullptr ? MPI_COMM_NULL : comm->handle;
}

int dup(const char* name, MPI_Comm comm, MPI_Comm* newcomm) {
  return on_comm(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    Comm* created = nullptr;
    TMPI_TRY(duplicate(c, created));
    *newcomm = handle_of(created);
    return kOk;
  });
}

// Every member of `group` is one of the communicator's.
Err check_subgroup(const Comm& comm, const Group& group) {
  for (int i = 0; i < group.size(); ++i) {
    if (comm.shared->group->rank_of(group.world_rank(i)) == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP,
                  "member {} of the group (rank {} of MPI_COMM_WORLD) does not belong to the communicator", i,
                  group.world_rank(i));
  }
  return kOk;
}

Err check_split_type(int split_type) {
  switch (split_type) {
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_SHARED:
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return kOk;
    default:
      return fail(MPI_ERR_ARG,
                  "split_type is {}: it must be one of the MPI_COMM_TYPE_ constants or MPI_UNDEFINED",
                  split_type);
  }
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return dup("MPI_Comm_dup", comm, newcomm);
}
TMPI_PROFILED(MPI_Comm_dup);

// Hints do not change what a communicator does, and an implementation may ignore all of them (MPI
// report, 7.4.4).
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info, MPI_Comm* newcomm) {
  return dup("MPI_Comm_dup_with_info", comm, newcomm);
}
TMPI_PROFILED(MPI_Comm_dup_with_info);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return on_comm("MPI_Comm_split", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    if (color < 0 && color != MPI_UNDEFINED)
      return fail(MPI_ERR_ARG, "color is {}: it must not be negative (but for MPI_UNDEFINED)", color);
    Comm* created = nullptr;
    TMPI_TRY(split(c, color, key, created));
    *newcomm = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_split);

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info, MPI_Comm* newcomm) {
  return on_comm("MPI_Comm_split_type", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    TMPI_TRY(check_split_type(split_type));
    // All members live in this node process. There is no hardware level and no process set that could be
    // asked for yet: members of those kinds get MPI_COMM_NULL, which the report allows (7.4.2), but they do
    // come, since the others may name another kind.
    Comm* created = nullptr;
    TMPI_TRY(split(c, split_type == MPI_COMM_TYPE_SHARED ? 0 : MPI_UNDEFINED, key, created));
    *newcomm = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_split_type);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return on_comm("MPI_Comm_create", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    const GroupPtr* members;
    TMPI_TRY(group_from(group, members));
    TMPI_TRY(check_subgroup(c, **members));
    Comm* created = nullptr;
    TMPI_TRY(create(c, *members, created));
    *newcomm = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  return on_comm("MPI_Comm_create_group", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    TMPI_TRY(check_send_tag(tag));
    const GroupPtr* members;
    TMPI_TRY(group_from(group, members));
    TMPI_TRY(check_subgroup(c, **members));
    Comm* created = nullptr;
    if ((*members)->rank_of(c.owner->world_rank) != MPI_UNDEFINED)
      TMPI_TRY(create_from_members(c, *members, tag, created));
    *newcomm = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_create_group);
