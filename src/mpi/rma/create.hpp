// The life of windows: made and freed by all members of a communicator together. Arguments have been checked as far as
// no object is needed. MPI report, 12.2.
#pragma once

#include <vector>

#include "mpi/base/info.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

/// What a member brings.
struct WindowOrder {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  ///< of flavor CREATE
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
  Err mistake = kOk;  ///< that the caller has found in other arguments: then all members fail
};

/// All members come, also those that have made a mistake; one's is everybody's error. MPI_ERR_COMM: an intercommunicator. MPI_ERR_RMA_SHARED: shared memory is wanted, but members live in several node
/// processes. MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_BASE. MPI_ERR_NO_MEM: a node process has no memory for the window's.
/// SUSPENDS.
Err create_window(Comm& comm, const WindowOrder& order, const Info& hints, Window*& created);

/// The first part of MPI_Win_free: all members come, and nothing of the window's is under way any more. MPI_ERR_RMA_SYNC
/// if an epoch is open, and an error of an attribute's callback, leave the window as it is. `ended`: it is to be
/// destroyed; then an error is one that a target has found: MPI_ERR_RMA_RANGE. SUSPENDS.
Err end_window(Window& window, bool& ended);
/// The second. Does not suspend.
void destroy_window(Window* window) noexcept;

/// For ranks that are saved (mpi/save): the rank's part of a window that all members make again, each from what it has known
/// of all. `window` is new. Does not suspend; nobody accesses memory before all members have come.
void revive_window(Window& window, Comm& comm, int flavor, std::vector<Extent> extents);

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
