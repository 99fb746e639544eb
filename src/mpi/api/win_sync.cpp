// Synchronization of windows. MPI report, 12.5.
#include "mpi/api/profiled.hpp"
#include "mpi/api/window_calls.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/rma/synchronize.hpp"
#include "mpi/rma/word.hpp"
#include "sched/task.hpp"

using namespace tmpi::mpi;

int PMPI_Win_fence(int assertion, MPI_Win win) {
  return on_win_together("MPI_Win_fence", win, [&](Window& w) { return fence(w, assertion); });
}
TMPI_PROFILED(MPI_Win_fence);

int PMPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  return on_win("MPI_Win_start", win, [&](Window& w) -> Err {
    const GroupPtr* members;
    TMPI_TRY(group_from(group, members));
    return start(w, **members, assertion);
  });
}
TMPI_PROFILED(MPI_Win_start);

int PMPI_Win_complete(MPI_Win win) {
  return on_win("MPI_Win_complete", win, [](Window& w) { return complete(w); });
}
TMPI_PROFILED(MPI_Win_complete);

int PMPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  return on_win("MPI_Win_post", win, [&](Window& w) -> Err {
    const GroupPtr* members;
    TMPI_TRY(group_from(group, members));
    return post(w, **members, assertion);
  });
}
TMPI_PROFILED(MPI_Win_post);

int PMPI_Win_wait(MPI_Win win) {
  return on_win("MPI_Win_wait", win, [](Window& w) { return tmpi::mpi::wait(w); });
}
TMPI_PROFILED(MPI_Win_wait);

int PMPI_Win_test(MPI_Win win, int* flag) {
  return on_win("MPI_Win_test", win, [&](Window& w) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    bool done = false;
    TMPI_TRY(test(w, done));
    *flag = done;
    if (!done) tmpi::sched::yield_polling();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_test);

int PMPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win) {
  return on_win("MPI_Win_lock", win, [&](Window& w) { return lock(w, lock_type, rank, assertion); });
}
TMPI_PROFILED(MPI_Win_lock);

int PMPI_Win_unlock(int rank, MPI_Win win) {
  return on_win("MPI_Win_unlock", win, [&](Window& w) { return unlock(w, rank); });
}
TMPI_PROFILED(MPI_Win_unlock);

int PMPI_Win_lock_all(int assertion, MPI_Win win) {
  return on_win("MPI_Win_lock_all", win, [&](Window& w) { return lock_all(w, assertion); });
}
TMPI_PROFILED(MPI_Win_lock_all);

int PMPI_Win_unlock_all(MPI_Win win) {
  return on_win("MPI_Win_unlock_all", win, [](Window& w) { return unlock_all(w); });
}
TMPI_PROFILED(MPI_Win_unlock_all);

[[gnu::noinline]] static int flush_any(int rank, MPI_Win win) {
  return on_win("MPI_Win_flush", win, [&](Window& w) { return flush(w, rank, Flush::kEverywhere); });
}

int PMPI_Win_flush(int rank, MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && flush_word(*w, rank)) [[likely]]
    return MPI_SUCCESS;
  return flush_any(rank, win);
}
TMPI_PROFILED(MPI_Win_flush);

int PMPI_Win_flush_all(MPI_Win win) {
  return on_win("MPI_Win_flush_all", win, [](Window& w) { return flush_all(w, Flush::kEverywhere); });
}
TMPI_PROFILED(MPI_Win_flush_all);

[[gnu::noinline]] static int flush_local_any(int rank, MPI_Win win) {
  return on_win("MPI_Win_flush_local", win, [&](Window& w) { return flush(w, rank, Flush::kAtOrigin); });
}

int PMPI_Win_flush_local(int rank, MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && flush_word(*w, rank)) [[likely]]
    return MPI_SUCCESS;
  return flush_local_any(rank, win);
}
TMPI_PROFILED(MPI_Win_flush_local);

int PMPI_Win_flush_local_all(MPI_Win win) {
  return on_win("MPI_Win_flush_local_all", win, [](Window& w) { return flush_all(w, Flush::kAtOrigin); });
}
TMPI_PROFILED(MPI_Win_flush_local_all);

int PMPI_Win_sync(MPI_Win win) {
  return on_win("MPI_Win_sync", win, [](Window& w) { return sync(w); });
}
TMPI_PROFILED(MPI_Win_sync);
