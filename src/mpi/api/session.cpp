// Sessions and process sets. MPI report, 11.3.
#include "mpi/init/session.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/api/on_errhandler.hpp"
#include "mpi/api/on_session.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/init/process_sets.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

Err open(Rank& rank, MPI_Info info, Errhandler* handler, MPI_Session* session) {
  TMPI_TRY(check_pointer(session, "session"));
  const Info* hints;
  TMPI_TRY(hints_from(info, hints));
  int level;
  TMPI_TRY(requested_thread_level(*hints, MPI_THREAD_MULTIPLE, level));
  auto opened = std::make_unique<Session>();
  opened->errhandler = handler;
  opened->thread_level = open_session(rank, level);
  retain(handler);
  *session = handle_of(*opened.release());
  return kOk;
}

Err find_process_set(const char* name, GroupPtr& set) {
  TMPI_TRY(check_pointer(name, "pset_name"));
  set = process_set(std::string_view(name, ::strnlen(name, MPI_MAX_PSET_NAME_LEN)));
  return set != nullptr
             ? kOk
             : fail(MPI_ERR_ARG,
                    "there is no process set \"{}\"; MPI_Session_get_nth_pset says which there are", name);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const char* name = "MPI_Session_init";
  Errhandler* handler = nullptr;
  const Err bad_handler = check_errhandler(errhandler, Raiser::kSession, handler);
  if (bad_handler) return raise(name, nullptr, bad_handler);
  const ErrorTarget target{Raiser::kSession, MPI_SESSION_NULL, handler};
  // The first session makes MPI usable: whoever calls may do so in any phase.
  if (calling_rank() == nullptr) {
    if (Err error = start_singleton()) return raise_on(name, target, error);
  }
  const Frame frame(name);
  Rank* rank = frame.caller();
  if (rank == nullptr)
    return raise_on(
        name, target,
        fail(MPI_ERR_OTHER,
             "called by a thread that the rank has created, which may not call MPI yet; call it in the "
             "rank's main thread"));
  if (Err error = guarded([&] { return open(*rank, info, handler, session); }))
    return raise_on(name, target, error);
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Session_init);

int PMPI_Session_finalize(MPI_Session* session) {
  if (session == nullptr)
    return on_rank("MPI_Session_finalize", [](Rank&) { return null_pointer("session"); });
  return on_session("MPI_Session_finalize", *session, [&](Session& opened, Rank& rank) -> Err {
    drop_buffer(rank, &opened);
    TMPI_TRY(close_session(rank));
    opened.magic = 0;
    release(opened.errhandler);
    delete &opened;
    *session = MPI_SESSION_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Session_finalize);

int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used) {
  return on_session("MPI_Session_get_info", session, [&](Session& opened, Rank&) -> Err {
    TMPI_TRY(check_pointer(info_used, "info_used"));
    *info_used = handle_of(*new Info(hints_in_use(opened)));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Session_get_info);

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  return on_session("MPI_Session_get_num_psets", session, [&](Session&, Rank&) -> Err {
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    TMPI_TRY(check_pointer(npset_names, "npset_names"));
    *npset_names = static_cast<int>(process_set_names().size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Session_get_num_psets);

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
  return on_session("MPI_Session_get_nth_pset", session, [&](Session&, Rank&) -> Err {
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    TMPI_TRY(check_pointer(pset_len, "pset_len"));
    const auto& names = process_set_names();
    if (n < 0 || n >= static_cast<int>(names.size()))
      return fail(MPI_ERR_ARG, "n is {}, but there are {} process sets", n, names.size());
    if (*pset_len < 0) return fail(MPI_ERR_ARG, "pset_len is {}: it must not be negative", *pset_len);
    const std::string& name = names[static_cast<std::size_t>(n)];
    if (*pset_len > 0) {
      TMPI_TRY(check_pointer(pset_name, "pset_name"));
      const std::size_t kept = std::min(name.size(), static_cast<std::size_t>(*pset_len) - 1);
      pset_name[name.copy(pset_name, kept)] = '\0';
    }
    *pset_len = static_cast<int>(name.size()) + 1;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Session_get_nth_pset);

int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  return on_session("MPI_Session_get_pset_info", session, [&](Session&, Rank&) -> Err {
    TMPI_TRY(check_pointer(info, "info"));
    GroupPtr set;
    TMPI_TRY(find_process_set(pset_name, set));
    std::vector<Info::Entry> entries = {{"mpi_size", std::to_string(set->size())}};
    *info = handle_of(*new Info(std::move(entries)));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Session_get_pset_info);

int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  return on_session("MPI_Group_from_session_pset", session, [&](Session& opened, Rank&) -> Err {
    TMPI_TRY(check_pointer(newgroup, "newgroup"));
    *newgroup = MPI_GROUP_NULL;
    GroupPtr set;
    TMPI_TRY(find_process_set(pset_name, set));
    *newgroup = make_handle(set, &opened);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Group_from_session_pset);

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  return on_session("MPI_Session_set_errhandler", session, [&](Session& opened, Rank&) {
    return set_errhandler(opened.errhandler, Raiser::kSession, errhandler);
  });
}
TMPI_PROFILED(MPI_Session_set_errhandler);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  return on_session("MPI_Session_get_errhandler", session,
                    [&](Session& opened, Rank&) { return get_errhandler(opened.errhandler, errhandler); });
}
TMPI_PROFILED(MPI_Session_get_errhandler);

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode) {
  const char* name = "MPI_Session_call_errhandler";
  const Frame frame(name);  // around the handler, too, which may throw
  ErrorTarget target{};
  const int code = on_session(name, session, [&](Session& opened, Rank&) -> Err {
    target = target_of(session, opened);
    return kOk;
  });
  if (code == MPI_SUCCESS) call_errhandler(name, target, errorcode);
  return code;
}
TMPI_PROFILED(MPI_Session_call_errhandler);

int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
  return anywhere("MPI_Get_hw_resource_info", [&]() -> Err {
    TMPI_TRY(check_pointer(hw_info, "hw_info"));
    *hw_info = handle_of(*new Info(resource_entries()));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Get_hw_resource_info);
