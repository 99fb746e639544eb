// The life of windows: made and freed by all members of a communicator together. Arguments have been checked as far as
// no object is needed. MPI report, 12.2.
#pragma once

#include "mpi/base/info.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

/// What a member brings.
struct WindowOrder {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  ///< of flavor CREATE
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
};

/// MPI_ERR_COMM: an intercommunicator. MPI_ERR_RMA_SHARED: shared memory is wanted, but members live in several node
/// processes. MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_BASE. SUSPENDS.
Err create_window(Comm& comm, const WindowOrder& order, const Info& hints, Window*& created);

/// MPI_Win_free: all members come. MPI_ERR_RMA_SYNC if an epoch is open. An error of an attribute's callback leaves the
/// window as it is. SUSPENDS.
Err free_window(Window& window);

/// The memory of a member: MPI_Win_shared_query. Not accessible here: size 0 and a null base. MPI_PROC_NULL: the first
/// member that has memory. MPI_ERR_RANK, MPI_ERR_RMA_FLAVOR.
Err query_memory(const Window& window, int rank, Extent& extent);

/// Hints that are known and make sense (MPI report, 12.2.1), as MPI_Win_set_info takes and MPI_Win_get_info gives them.
void set_hints(Window& window, const Info& hints);

/// A window as a carrier of attributes.
Bearer bearer_of(Window& window) noexcept;
/// The value of a predefined attribute; null: the key is none of them.
const void* predefined_attribute(Window& window, int keyval) noexcept;

}  // namespace tmpi::mpi
