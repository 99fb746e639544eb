// Communicators: what they are, and their end. MPI report, 7.4 and 7.8.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/create/create.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/attributes.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// The user's handle of a communicator that may be freed: not WORLD, not SELF.
Err check_freeable(const Comm& comm) {
  if (comm.handle == MPI_COMM_WORLD || comm.handle == MPI_COMM_SELF)
    return fail(MPI_ERR_COMM, "{} cannot be freed: it ends with MPI_Finalize", comm.name);
  return kOk;
}

int compare_comms(const Comm& a, const Comm& b) {
  if (a.context == b.context && a.handle == b.handle) return MPI_IDENT;
  if (a.inter() != b.inter()) return MPI_UNEQUAL;
  // Ordered from like to unlike: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL.
  const int groups =
      std::max(compare(*a.shared->group, *b.shared->group), compare(*a.shared->peers, *b.shared->peers));
  return groups == MPI_IDENT ? MPI_CONGRUENT : groups;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  return on_comm("MPI_Comm_size", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    *size = c.size;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_size);

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  return on_comm("MPI_Comm_rank", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(rank, "rank"));
    *rank = c.rank;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_rank);

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  return on_comm("MPI_Comm_compare", comm1, [&](Comm& a) -> Err {
    const Comm* b = comm_from(*a.owner, comm2);
    if (b == nullptr) return fail(MPI_ERR_COMM, "comm2 is no communicator");
    TMPI_TRY(check_pointer(result, "result"));
    *result = compare_comms(a, *b);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_compare);

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  return on_comm("MPI_Comm_group", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(group, "group"));
    *group = make_handle(c.shared->group, c.session);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_group);

int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  return on_coming_comm("MPI_Comm_set_name", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(comm_name, "comm_name"));
    c.name.assign(comm_name, ::strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  const auto give = [&](std::string_view name) -> Err {
    TMPI_TRY(check_pointer(comm_name, "comm_name"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    comm_name[name.copy(comm_name, MPI_MAX_OBJECT_NAME - 1)] = '\0';
    *resultlen = static_cast<int>(name.size());
    return kOk;
  };
  // MPI_COMM_NULL has a name too (MPI report, 7.8).
  if (comm == MPI_COMM_NULL)
    return on_rank("MPI_Comm_get_name", [&](Rank&) { return give("MPI_COMM_NULL"); });
  return on_comm("MPI_Comm_get_name", comm, [&](Comm& c) { return give(c.name); });
}
TMPI_PROFILED(MPI_Comm_get_name);

int PMPI_Comm_free(MPI_Comm* comm) {
  if (comm == nullptr) return on_rank("MPI_Comm_free", [](Rank&) { return null_pointer("comm"); });
  return on_coming_comm("MPI_Comm_free", *comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_freeable(c));
    TMPI_TRY(delete_attributes(c));
    drop_buffer(*c.owner, &c);
    if (c.owner->parent == &c) c.owner->parent = nullptr;
    release(c);
    *comm = MPI_COMM_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_free);

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  if (comm == nullptr) return on_rank("MPI_Comm_disconnect", [](Rank&) { return null_pointer("comm"); });
  return on_collective("MPI_Comm_disconnect", *comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_freeable(c));
    TMPI_TRY(delete_attributes(c));
    TMPI_TRY(disconnect(c));
    drop_buffer(*c.owner, &c);
    if (c.owner->parent == &c) c.owner->parent = nullptr;
    release(c);
    *comm = MPI_COMM_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_disconnect);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  return on_coming_comm("MPI_Comm_set_info", comm, [&](Comm& c) -> Err {
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    set_hints(c, *hints);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  return on_comm("MPI_Comm_get_info", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(info_used, "info_used"));
    *info_used = handle_of(*new Info(hints_in_use(c)));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_get_info);
