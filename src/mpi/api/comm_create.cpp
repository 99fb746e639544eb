// Making communicators. MPI report, 7.4.2.
#include <string>
#include <vector>

#include "mpi/api/profiled.hpp"
#include "mpi/comm/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/create/create.hpp"
#include "mpi/create/idup.hpp"
#include "mpi/init/process_sets.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// `info`: null if the hints are to be the parent's.
int dup(const char* name, MPI_Comm comm, const MPI_Info* info, MPI_Comm* newcomm) {
  return on_collective(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    const Info* hints = nullptr;
    if (info != nullptr) TMPI_TRY(hints_from(*info, hints));
    Comm* created = nullptr;
    *newcomm = MPI_COMM_NULL;
    TMPI_TRY(duplicate(c, hints, created));
    *newcomm = created->handle;
    return kOk;
  });
}

int idup(const char* name, MPI_Comm comm, const MPI_Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  return on_collective(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    TMPI_TRY(check_pointer(request, "request"));
    const Info* hints = nullptr;
    if (info != nullptr) TMPI_TRY(hints_from(*info, hints));
    Comm* created = nullptr;
    *newcomm = MPI_COMM_NULL;
    TMPI_TRY(start_duplicate(c, hints, created, *request));
    *newcomm = created->handle;
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

// What a member brings to MPI_Comm_split_type: its color, or several to choose from.
struct SplitKind {
  int color = MPI_UNDEFINED;
  std::vector<int> levels;
};

// A hardware resource or a process set that the hints name; none: no communicator.
int guided_color(const Info& hints, bool process_sets) {
  if (const std::string* type = hints.find("mpi_hw_resource_type")) return resource_color(*type);
  const std::string* name = process_sets ? hints.find("mpi_pset_name") : nullptr;
  const GroupPtr set = name != nullptr ? process_set(*name) : nullptr;
  return set != nullptr ? set->world_rank(0) : MPI_UNDEFINED;
}

Err kind_of(int split_type, const Info& hints, SplitKind& kind) {
  switch (split_type) {
    case MPI_UNDEFINED:
      return kOk;
    case MPI_COMM_TYPE_SHARED:
      kind.color = resource_color("mpi_shared_memory");
      return kOk;
    case MPI_COMM_TYPE_HW_GUIDED:
      kind.color = guided_color(hints, false);
      return kOk;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      kind.color = guided_color(hints, true);
      return kOk;
    case MPI_COMM_TYPE_HW_UNGUIDED:
      kind.levels = resource_levels();
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
  return dup("MPI_Comm_dup", comm, nullptr, newcomm);
}
TMPI_PROFILED(MPI_Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return dup("MPI_Comm_dup_with_info", comm, &info, newcomm);
}
TMPI_PROFILED(MPI_Comm_dup_with_info);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  return idup("MPI_Comm_idup", comm, nullptr, newcomm, request);
}
TMPI_PROFILED(MPI_Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  return idup("MPI_Comm_idup_with_info", comm, &info, newcomm, request);
}
TMPI_PROFILED(MPI_Comm_idup_with_info);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return on_collective("MPI_Comm_split", comm, [&](Comm& c) -> Err {
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

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return on_collective("MPI_Comm_split_type", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    SplitKind kind;
    TMPI_TRY(kind_of(split_type, *hints, kind));
    Comm* created = nullptr;
    int level = -1;
    TMPI_TRY(split_by_level(c, kind.color, kind.levels, key, created, level));
    *newcomm = handle_of(created);
    // MPI_COMM_TYPE_HW_UNGUIDED: which resource it has become.
    if (created != nullptr && level >= 0 && info != MPI_INFO_NULL)
      info_from(info)->set("mpi_hw_resource_type", resource_name(level));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_split_type);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return on_collective("MPI_Comm_create", comm, [&](Comm& c) -> Err {
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
  return on_collective("MPI_Comm_create_group", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    if (c.inter())
      return fail(MPI_ERR_COMM, "comm is an intercommunicator, but must be an intracommunicator");
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
