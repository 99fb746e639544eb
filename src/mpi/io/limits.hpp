// Sizes from which on something is done in another way with files: measured, and what tools may ask for
// (mpi/tool/controls.cpp). docs/design/files.md.
#pragma once

#include <cstddef>

#include "mpi.h"

namespace tmpi::mpi {

/// Bytes that are copied in the time of a hand-over to another thread.
inline constexpr MPI_Count kSmallFileCall = MPI_Count{64} << 10;

// A system call costs as much as copying this many bytes twice (writing: they are read before) or once: runs that
// begin closer to each other are moved together with what is between them.
inline constexpr MPI_Count kSieveWrites = 2048;
inline constexpr MPI_Count kSieveReads = 4096;
/// Pieces of one system call's list, and of one hand-over.
inline constexpr std::size_t kMostPieces = 4096;

// Of collective operations.
/// From here on a run costs less in a list than copied.
inline constexpr MPI_Count kLargeRun = MPI_Count{8} << 10;
/// A system call for each is a good part of the time.
inline constexpr MPI_Count kSmallAccess = MPI_Count{64} << 10;
/// Less is not worth another aggregator.
inline constexpr MPI_Count kLeastDomain = MPI_Count{256} << 10;
/// Holes closer than this on average are read and written back; farther ones cost less as writes of their own.
inline constexpr MPI_Count kCloseHoles = 2048;

}  // namespace tmpi::mpi
