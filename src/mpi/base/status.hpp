// What tmpi keeps in the ABI's MPI_Status.MPI_internal: the number of bytes received, and whether the
// operation was cancelled.
#pragma once

#include <cstring>

#include "mpi.h"

namespace tmpi::mpi {

inline void set_status_bytes(MPI_Status& status, MPI_Count bytes) noexcept {
  static_assert(sizeof bytes == 2 * sizeof status.MPI_internal[0]);
  std::memcpy(&status.MPI_internal[0], &bytes, sizeof bytes);
}
inline MPI_Count status_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}
inline void set_status_cancelled(MPI_Status& status, bool cancelled) noexcept {
  status.MPI_internal[2] = cancelled;
}
inline bool status_cancelled(const MPI_Status& status) noexcept {
  return status.MPI_internal[2] != 0;
}

/// Fills everything but MPI_ERROR, which only the multiple-completion calls set (MPI report, 3.2.5).
inline void set_status(MPI_Status* status, int source, int tag, MPI_Count bytes,
                       bool cancelled = false) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_status_bytes(*status, bytes);
  set_status_cancelled(*status, cancelled);
}
/// The empty status: no message (null or inactive request), and no error (MPI report, 3.7.3).
inline void set_empty_status(MPI_Status* status) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status->MPI_ERROR = MPI_SUCCESS;
}
/// What a receive from MPI_PROC_NULL yields.
inline void set_proc_null_status(MPI_Status* status) noexcept {
  set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

}  // namespace tmpi::mpi
