// Communicators of groups, without one to start from. MPI report, 7.4.2 and 7.6.2.
#include <cstring>

#include "mpi/api/on_errhandler.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/create/from_group.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// What an end without memory is said to be for: the other members have begun, or will.
constexpr char kPart[] = "its part of a communicator that the members of a group make";

Err check_stringtag(const char* stringtag) {
  TMPI_TRY(check_pointer(stringtag, "stringtag"));
  return ::strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN
             ? kOk
             : fail(MPI_ERR_ARG,
                    "stringtag is longer than {} characters (MPI_MAX_STRINGTAG_LEN with its end)",
                    MPI_MAX_STRINGTAG_LEN - 1);
}

Err check_member(const Group& group, const Rank& rank, const char* argument) {
  return group.rank_of(rank.world_rank) != MPI_UNDEFINED
             ? kOk
             : fail(MPI_ERR_GROUP, "the calling process is not in {}", argument);
}

Err check_jobs(const Group& first, const Group& second) {
  return !of_too_many_jobs(first, second) ? kOk
                                          : fail(MPI_ERR_GROUP,
                                                 "the group has ranks of more than two jobs, which tmpi does "
                                                 "not connect in one communicator");
}

Err check_leader(const Group& group, int leader, const char* argument) {
  return leader >= 0 && leader < group.size()
             ? kOk
             : fail(MPI_ERR_RANK, "{} is {}, but the group has ranks 0 to {}", argument, leader,
                    group.size() - 1);
}

// Only the leader's arguments count.
Err find_remote(const GroupPtr& local, MPI_Group handle, int leader, OtherSide& found) {
  const GroupPtr* remote;
  TMPI_TRY(group_from(handle, remote));
  found = {*remote, leader};
  if (found.group->size() == 0) return kOk;
  TMPI_TRY(check_leader(*found.group, leader, "remote_leader"));
  TMPI_TRY(check_jobs(*local, *found.group));
  const GroupPtr both = intersect(local, found.group);
  return both->size() == 0
             ? kOk
             : fail(MPI_ERR_GROUP, "rank {} of MPI_COMM_WORLD is in local_group and in remote_group",
                    both->world_rank(0));
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  return on_errhandler("MPI_Comm_create_from_group", errhandler, Raiser::kComm, MPI_COMM_NULL,
                       [&](Rank& rank, Errhandler* handler) -> Err {
                         TMPI_TRY(check_pointer(newcomm, "newcomm"));
                         TMPI_TRY(check_stringtag(stringtag));
                         const Info* hints;
                         TMPI_TRY(hints_from(info, hints));
                         const GroupPtr* members;
                         TMPI_TRY(group_from(group, members));
                         *newcomm = MPI_COMM_NULL;
                         if ((*members)->size() == 0) return kOk;
                         TMPI_TRY(check_member(**members, rank, "group"));
                         TMPI_TRY(check_jobs(**members, **members));
                         Comm* created = nullptr;
                         return with_memory_for(kPart, [&]() -> Err {
                           TMPI_TRY(create_from_group(*members, stringtag, handler, created));
                           created->session = session_of(group);
                           set_hints(*created, *hints);
                           *newcomm = created->handle;
                           return kOk;
                         });
                       });
}
TMPI_PROFILED(MPI_Comm_create_from_group);

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                      int remote_leader, const char* stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  return on_errhandler(
      "MPI_Intercomm_create_from_groups", errhandler, Raiser::kComm, MPI_COMM_NULL,
      [&](Rank& rank, Errhandler* handler) -> Err {
        TMPI_TRY(check_pointer(newintercomm, "newintercomm"));
        TMPI_TRY(check_stringtag(stringtag));
        const Info* hints;
        TMPI_TRY(hints_from(info, hints));
        const GroupPtr* local;
        TMPI_TRY(group_from(local_group, local));
        *newintercomm = MPI_COMM_NULL;
        if ((*local)->size() == 0) return kOk;
        TMPI_TRY(check_member(**local, rank, "local_group"));
        TMPI_TRY(check_leader(**local, local_leader, "local_leader"));
        TMPI_TRY(check_jobs(**local, **local));
        const auto find = [&](OtherSide& found) {
          return find_remote(*local, remote_group, remote_leader, found);
        };
        Comm* created = nullptr;
        return with_memory_for(kPart, [&]() -> Err {
          TMPI_TRY(create_from_groups(*local, local_leader, find, stringtag, handler, created));
          if (created == nullptr) return kOk;
          created->session = session_of(local_group);
          set_hints(*created, *hints);
          *newintercomm = created->handle;
          return kOk;
        });
      });
}
TMPI_PROFILED(MPI_Intercomm_create_from_groups);
