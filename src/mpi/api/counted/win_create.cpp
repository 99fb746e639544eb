// Making windows with memory. MPI report, 12.2.
#include <cstring>
#include <limits>

#include "mpi/api/counted/counted.hpp"
#include "mpi/api/window_calls.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/info.hpp"
#include "mpi/rma/create.hpp"

namespace tmpi::mpi {
namespace {

// `baseptr`: where the address of the memory goes; null: it is the program's own.
inline int make(const char* name, WindowOrder order, MPI_Info info, MPI_Comm comm, void* baseptr,
                MPI_Win* win) {
  return on_collective(name, comm, [&](Comm& c) -> Err {
    const Info* hints = nullptr;
    order.mistake = check_creation(info, win, hints);
    if (!order.mistake && order.flavor != MPI_WIN_FLAVOR_CREATE)
      order.mistake = check_pointer(baseptr, "baseptr");
    Window* created = nullptr;
    TMPI_TRY(create_window(c, order, *hints, created));
    *win = handle_of(*created);
    const Address base = created->members->extent(created->rank).base;
    if (baseptr != nullptr) std::memcpy(baseptr, &base, sizeof base);
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Win_create)(void* base, MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm,
                             MPI_Win* win) {
  return make(TMPI_COUNTED_NAME(Win_create), {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit}, info, comm,
              nullptr, win);
}
TMPI_COUNTED_PROFILED(Win_create);

int TMPI_COUNTED(Win_allocate)(MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm,
                               void* baseptr, MPI_Win* win) {
  return make(TMPI_COUNTED_NAME(Win_allocate), {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit}, info,
              comm, baseptr, win);
}
TMPI_COUNTED_PROFILED(Win_allocate);

int TMPI_COUNTED(Win_allocate_shared)(MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm,
                                      void* baseptr, MPI_Win* win) {
  return make(TMPI_COUNTED_NAME(Win_allocate_shared), {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit}, info,
              comm, baseptr, win);
}
TMPI_COUNTED_PROFILED(Win_allocate_shared);

int TMPI_COUNTED(Win_shared_query)(MPI_Win win, int rank, MPI_Aint* size, Displacement* disp_unit,
                                   void* baseptr) {
  return on_win(TMPI_COUNTED_NAME(Win_shared_query), win, [&](Window& w) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    TMPI_TRY(check_pointer(disp_unit, "disp_unit"));
    TMPI_TRY(check_pointer(baseptr, "baseptr"));
    Extent extent;
    TMPI_TRY(query_memory(w, rank, extent));
    *size = extent.size;
    *disp_unit = extent.disp_unit > std::numeric_limits<Displacement>::max()
                     ? MPI_UNDEFINED
                     : static_cast<Displacement>(extent.disp_unit);
    std::memcpy(baseptr, &extent.base, sizeof extent.base);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Win_shared_query);
