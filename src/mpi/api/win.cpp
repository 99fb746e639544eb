// Windows: what they are, and their end. How they are made: counted/win_create.cpp. MPI report, 12.2 and 7.8.
#include <cstring>
#include <memory>
#include <string_view>

#include "mpi/api/profiled.hpp"
#include "mpi/api/window_calls.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/rank/info.hpp"
#include "mpi/rma/create.hpp"

namespace tmpi::mpi {

int raise_bad_win(const char* name, MPI_Win handle) {
  return raise(name, nullptr,
               handle == MPI_WIN_NULL
                   ? fail(MPI_ERR_WIN, "the window is MPI_WIN_NULL: never made, or freed")
                   : fail(MPI_ERR_WIN, "{} is no window", static_cast<const void*>(handle)));
}

namespace {

Err check_dynamic(const Window& window, const char* call) {
  if (window.members->flavor == MPI_WIN_FLAVOR_DYNAMIC) return kOk;
  return fail(MPI_ERR_RMA_FLAVOR,
              "{} is for windows that MPI_Win_create_dynamic has made; this one has its memory", call);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return on_collective("MPI_Win_create_dynamic", comm, [&](Comm& c) -> Err {
    const Info* hints = nullptr;
    WindowOrder order{.flavor = MPI_WIN_FLAVOR_DYNAMIC};
    order.mistake = check_creation(info, win, hints);
    Window* created = nullptr;
    TMPI_TRY(create_window(c, order, *hints, created));
    *win = handle_of(*created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_create_dynamic);

int PMPI_Win_free(MPI_Win* win) {
  if (win == nullptr) return on_rank("MPI_Win_free", [](Rank&) { return null_pointer("win"); });
  const Frame frame("MPI_Win_free");
  // An error that a target has found is raised on the window, so that ends after it.
  std::unique_ptr<Window, void (*)(Window*) noexcept> ends(nullptr, destroy_window);
  return on_win_together("MPI_Win_free", *win, [&](Window& w) -> Err {
    bool ended = false;
    const Err error = end_window(w, ended);
    if (ended) {
      ends.reset(&w);
      *win = MPI_WIN_NULL;
    }
    return error;
  });
}
TMPI_PROFILED(MPI_Win_free);

int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  return on_win("MPI_Win_attach", win, [&](Window& w) -> Err {
    TMPI_TRY(check_dynamic(w, "MPI_Win_attach"));
    if (size < 0) return fail(MPI_ERR_SIZE, "size is {}: it must not be negative", size);
    if (base == nullptr && size > 0) return fail(MPI_ERR_BASE, "base is NULL, but size is {}", size);
    return w.mine().regions.attach(address_of(base), size);
  });
}
TMPI_PROFILED(MPI_Win_attach);

int PMPI_Win_detach(MPI_Win win, const void* base) {
  return on_win("MPI_Win_detach", win, [&](Window& w) -> Err {
    TMPI_TRY(check_dynamic(w, "MPI_Win_detach"));
    return w.mine().regions.detach(address_of(base));
  });
}
TMPI_PROFILED(MPI_Win_detach);

int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  return on_win("MPI_Win_get_group", win, [&](Window& w) -> Err {
    TMPI_TRY(check_pointer(group, "group"));
    *group = make_handle(w.members->group);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_get_group);

int PMPI_Win_set_name(MPI_Win win, const char* win_name) {
  return on_win("MPI_Win_set_name", win, [&](Window& w) -> Err {
    TMPI_TRY(check_pointer(win_name, "win_name"));
    w.name.assign(win_name, ::strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_set_name);

int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  const auto give = [&](std::string_view name) -> Err {
    TMPI_TRY(check_pointer(win_name, "win_name"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    win_name[name.copy(win_name, MPI_MAX_OBJECT_NAME - 1)] = '\0';
    *resultlen = static_cast<int>(name.size());
    return kOk;
  };
  // MPI_WIN_NULL has a name too (MPI report, 7.8).
  if (win == MPI_WIN_NULL) return on_rank("MPI_Win_get_name", [&](Rank&) { return give("MPI_WIN_NULL"); });
  return on_win("MPI_Win_get_name", win, [&](Window& w) { return give(w.name); });
}
TMPI_PROFILED(MPI_Win_get_name);

int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  return on_win("MPI_Win_set_info", win, [&](Window& w) -> Err {
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    set_hints(w, *hints);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_set_info);

int PMPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
  return on_win("MPI_Win_get_info", win, [&](Window& w) -> Err {
    TMPI_TRY(check_pointer(info_used, "info_used"));
    *info_used = handle_of(*new Info(w.hints));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_get_info);
