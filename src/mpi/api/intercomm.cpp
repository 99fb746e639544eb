// Intercommunicators. MPI report, 7.6.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/create/inter.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err check_inter(const Comm& comm) {
  return comm.inter()
             ? kOk
             : fail(MPI_ERR_COMM, "the communicator is an intracommunicator: it has no remote group");
}

Err check_intra(const Comm& comm, const char* argument) {
  return comm.inter()
             ? fail(MPI_ERR_COMM, "{} is an intercommunicator, but must be an intracommunicator", argument)
             : kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return on_comm("MPI_Comm_test_inter", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    *flag = c.inter();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_test_inter);

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  return on_comm("MPI_Comm_remote_size", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_inter(c));
    TMPI_TRY(check_pointer(size, "size"));
    *size = c.peers;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_remote_size);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  return on_comm("MPI_Comm_remote_group", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_inter(c));
    TMPI_TRY(check_pointer(group, "group"));
    *group = make_handle(c.shared->peers, c.session);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_remote_group);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                          int tag, MPI_Comm* newintercomm) {
  return on_collective("MPI_Intercomm_create", local_comm, [&](Comm& local) -> Err {
    TMPI_TRY(check_intra(local, "local_comm"));
    TMPI_TRY(check_pointer(newintercomm, "newintercomm"));
    if (local_leader < 0 || local_leader >= local.size)
      return fail(MPI_ERR_RANK, "local_leader is {}, but local_comm has ranks 0 to {}", local_leader,
                  local.size - 1);
    Comm* created = nullptr;
    TMPI_TRY(intercomm_create(local, local_leader, peer_comm, remote_leader, tag, created));
    *newintercomm = created->handle;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Intercomm_create);

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return on_collective("MPI_Intercomm_merge", intercomm, [&](Comm& inter) -> Err {
    TMPI_TRY(check_inter(inter));
    TMPI_TRY(check_pointer(newintracomm, "newintracomm"));
    Comm* created = nullptr;
    TMPI_TRY(intercomm_merge(inter, high != 0, created));
    *newintracomm = created->handle;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Intercomm_merge);
