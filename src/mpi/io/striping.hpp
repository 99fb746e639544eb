// Striping: how a parallel file system spreads a file over its devices. Chosen when the file is made, by the hints
// striping_factor, striping_unit and start_iodevice (MPI report, 14.2.8). Lustre is known, by its extended attribute
// "lustre.lov"; other file systems have none that a program could choose. docs/design/files.md.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "mpi.h"

namespace tmpi::mpi {

struct Striping {
  MPI_Count unit =
      0;  ///< bytes on a device before the next one's turn; 0: not known, or as the file system likes
  MPI_Count factor = 0;  ///< devices; 0 likewise
  MPI_Count first = -1;  ///< number of the first one; -1 likewise
  bool any() const noexcept { return unit > 0 || factor > 0 || first >= 0; }
};

/// The file system (`f_type` of statfs) takes such wishes.
bool can_stripe(long file_system) noexcept;

/// What open() is to be told besides, so that a new file has no layout before set_striping(). Only if can_stripe().
extern const int kOpenWithoutLayout;

/// Lays out a file that has no data and no layout. The errno: EEXIST if it has one. Blocks the calling thread.
int set_striping(int fd, const Striping& wanted) noexcept;

/// How a file lies; nothing is known if the file system does not tell. Blocks the calling thread.
Striping striping_of(int fd) noexcept;

/// What the kernel is asked by; tests put others in their place.
struct LayoutCalls {
  int (*set)(int fd, const char* name, const void* value, std::size_t size, int flags);
  ssize_t (*get)(int fd, const char* name, void* value, std::size_t size);
};
extern LayoutCalls g_layout_calls;

}  // namespace tmpi::mpi
