// Limits of one-sided communication that tools may ask for (mpi/tool/controls.cpp). docs/design/one-sided.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tmpi::mpi::rma {

/// Calls that a program may make in a loop until something has happened, between two scheduling points.
inline constexpr unsigned kPollsPerTurn = 128;
/// Bytes of an accumulate that others do not mix with, and pieces of so many bytes between two scheduling points.
inline constexpr std::int64_t kRowPiece = 64 << 10;
inline constexpr unsigned kPiecesPerTurn = 8;
/// Datatypes of targets that a node remembers to have sent: a program that makes one for every operation must not fill
/// the memory of two nodes.
inline constexpr std::size_t kMostSentTypes = 1024;
/// Locks for elements that no instruction changes as a whole, chosen by address.
inline constexpr std::size_t kElementLocks = 64;

}  // namespace tmpi::mpi::rma
