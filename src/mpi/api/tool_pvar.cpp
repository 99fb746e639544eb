// Performance variables. MPI report, 15.3.7.
#include "mpi/api/tool_calls.hpp"

namespace tmpi::mpi {
namespace {

using tool::PvarHandle;
using tool::PvarSession;
using tool::Variable;

// Runs body(session).
template <class Body>
int on_session(MPI_T_pvar_session session, Body&& body) {
  return on_tool_state([&](tool::State& state, Rank&) -> int {
    PvarSession* const found = state.find_session(session);
    return found == nullptr ? MPI_T_ERR_INVALID_SESSION : body(*found);
  });
}

// Runs body(handle), for one handle of the session.
template <class Body>
int on_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Body&& body) {
  return on_session(session, [&](PvarSession& found) -> int {
    PvarHandle* const pvar = tool::find_handle(found, handle);
    return pvar == nullptr ? MPI_T_ERR_INVALID_HANDLE : body(*pvar);
  });
}

// The same, or for all handles of the session to which it applies.
template <class Body>
int on_pvars(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int inapplicable, Body&& body) {
  const auto one = [&](PvarHandle& pvar) -> int {
    if (pvar.variable().continuous()) return inapplicable;
    body(pvar);
    return MPI_SUCCESS;
  };
  if (handle != MPI_T_PVAR_ALL_HANDLES) return on_pvar(session, handle, one);
  return on_session(session, [&](PvarSession& found) -> int {
    for (const auto& pvar : found.handles()) (void)one(*pvar);
    return MPI_SUCCESS;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_T_pvar_get_num(int* num_pvar) {
  return on_tool([&](Rank&) -> int {
    if (num_pvar == nullptr) return MPI_T_ERR_INVALID;
    *num_pvar = static_cast<int>(tool::variables().size());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_get_num);

int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                         MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                         int* readonly, int* continuous, int* atomic) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(pvar_index, tool::variables().size())) return MPI_T_ERR_INVALID_INDEX;
    const Variable& variable = tool::variables()[static_cast<std::size_t>(pvar_index)];
    give_text(variable.name, name, name_len);
    give_text(variable.description, desc, desc_len);
    give(verbosity, variable.verbosity);
    give(var_class, variable.kind);
    give(datatype, variable.type());
    give(enumtype, tool::handle_of(variable.enumeration()));
    give(bind, variable.bind());
    give(readonly, int{variable.continuous()});
    give(continuous, int{variable.continuous()});
    give(atomic, int{!variable.continuous()});
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_get_info);

int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  return on_tool([&](Rank&) -> int {
    if (name == nullptr || pvar_index == nullptr) return MPI_T_ERR_INVALID;
    const int found = tool::find_variable(name, var_class);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *pvar_index = found;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_get_index);

int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  return on_tool_state([&](tool::State& state, Rank&) -> int {
    if (session == nullptr) return MPI_T_ERR_INVALID;
    *session = handle_of(state.create_session());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  return on_tool_state([&](tool::State& state, Rank&) -> int {
    PvarSession* const found = session != nullptr ? state.find_session(*session) : nullptr;
    if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
    state.free_session(*found);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_session_free);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                             MPI_T_pvar_handle* handle, int* count) {
  return on_tool_state([&](tool::State& state, Rank& rank) -> int {
    PvarSession* const found = state.find_session(session);
    if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
    if (!is_index(pvar_index, tool::variables().size())) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr) return MPI_T_ERR_INVALID;
    const Variable& variable = tool::variables()[static_cast<std::size_t>(pvar_index)];
    const Comm* comm = nullptr;
    if (variable.extent == tool::Extent::kPeers) {
      comm = bound_comm(rank, obj_handle);
      if (comm == nullptr) return MPI_T_ERR_INVALID;
    }
    PvarHandle& allocated = found->allocate(variable, rank, comm);
    *handle = handle_of(allocated);
    give(count, allocated.count());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  return on_pvar(session, handle != nullptr ? *handle : MPI_T_PVAR_HANDLE_NULL, [&](PvarHandle& pvar) -> int {
    pvar.session().free(pvar);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_handle_free);

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return on_pvars(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, [](PvarHandle& pvar) { pvar.start(); });
}
TMPI_PROFILED(MPI_T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return on_pvars(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, [](PvarHandle& pvar) { pvar.stop(); });
}
TMPI_PROFILED(MPI_T_pvar_stop);

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  return on_pvar(session, handle, [&](PvarHandle& pvar) -> int {
    if (buf == nullptr) return MPI_T_ERR_INVALID;
    pvar.read(buf);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_read);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  return on_pvar(session, handle, [&](PvarHandle& pvar) -> int {
    if (pvar.variable().continuous()) return MPI_T_ERR_PVAR_NO_WRITE;
    if (buf == nullptr) return MPI_T_ERR_INVALID;
    pvar.write(buf);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_write);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return on_pvars(session, handle, MPI_T_ERR_PVAR_NO_WRITE, [](PvarHandle& pvar) { pvar.reset(); });
}
TMPI_PROFILED(MPI_T_pvar_reset);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  return on_pvar(session, handle, [&](PvarHandle& pvar) -> int {
    if (pvar.variable().continuous()) return MPI_T_ERR_PVAR_NO_ATOMIC;
    if (buf == nullptr) return MPI_T_ERR_INVALID;
    pvar.read_and_reset(buf);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_pvar_readreset);
