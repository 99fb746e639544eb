// Control variables. MPI report, 15.3.6.
#include "mpi/api/tool_calls.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(handle).
template <class Body>
int on_cvar(MPI_T_cvar_handle handle, Body&& body) {
  return on_tool_state([&](tool::State& state, Rank&) -> int {
    tool::CvarHandle* const found = state.find_handle(handle);
    return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : body(*found);
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_T_cvar_get_num(int* num_cvar) {
  return on_tool([&](Rank&) -> int {
    if (num_cvar == nullptr) return MPI_T_ERR_INVALID;
    *num_cvar = static_cast<int>(tool::controls().size());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_get_num);

int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                         MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(cvar_index, tool::controls().size())) return MPI_T_ERR_INVALID_INDEX;
    const tool::Control& control = tool::controls()[static_cast<std::size_t>(cvar_index)];
    give_text(control.name, name, name_len);
    give_text(control.description, desc, desc_len);
    give(verbosity, control.verbosity);
    give(datatype, control.type);
    give(enumtype, tool::handle_of(control.enumeration));
    give(bind, control.bind());
    give(scope, control.scope);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_get_info);

int PMPI_T_cvar_get_index(const char* name, int* cvar_index) {
  return on_tool([&](Rank&) -> int {
    if (name == nullptr || cvar_index == nullptr) return MPI_T_ERR_INVALID;
    const int found = tool::find_control(name);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *cvar_index = found;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_get_index);

int PMPI_T_cvar_handle_alloc(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle, int* count) {
  return on_tool_state([&](tool::State& state, Rank& rank) -> int {
    if (!is_index(cvar_index, tool::controls().size())) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr) return MPI_T_ERR_INVALID;
    const tool::Control& control = tool::controls()[static_cast<std::size_t>(cvar_index)];
    Comm* comm = nullptr;
    if (control.is_choice()) {
      comm = bound_comm(rank, obj_handle);
      if (comm == nullptr) return MPI_T_ERR_INVALID;
      if (comm->inter()) return MPI_T_ERR_NOT_SUPPORTED;  // its collectives are made of those of both sides
    }
    *handle = handle_of(state.create_handle(control, comm));
    give(count, control.count());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  return on_tool_state([&](tool::State& state, Rank&) -> int {
    tool::CvarHandle* const found = handle != nullptr ? state.find_handle(*handle) : nullptr;
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    state.free_handle(*found);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  return on_cvar(handle, [&](tool::CvarHandle& found) -> int {
    if (buf == nullptr) return MPI_T_ERR_INVALID;
    if (found.lost()) return MPI_T_ERR_NOT_ACCESSIBLE;
    tool::read_control(found.control(), found.comm(), buf);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  return on_cvar(handle, [&](tool::CvarHandle& found) -> int {
    if (buf == nullptr) return MPI_T_ERR_INVALID;
    if (!found.control().is_choice()) return MPI_T_ERR_CVAR_SET_NEVER;
    if (found.lost()) return MPI_T_ERR_CVAR_SET_NOT_NOW;
    return tool::write_choice(found.control(), *found.comm(), *static_cast<const int*>(buf));
  });
}
TMPI_PROFILED(MPI_T_cvar_write);
