// The conditions that algorithms name (algorithm.hpp), each with its words.
#pragma once

#include <bit>

#include "mpi/coll/algorithm.hpp"
#include "mpi/shm/cells.hpp"

namespace tmpi::mpi {

inline constexpr MPI_Count kKiB = 1024;

// Where the members live.
inline constexpr Condition kOneNode = {[](const Query& q, MPI_Count) noexcept { return q.nodes == 1; },
                                       "members on one node"};
inline constexpr Condition kSeveralNodes = {[](const Query& q, MPI_Count) noexcept { return q.nodes > 1; },
                                            "members on several nodes"};
/// There is something to do inside a node.
inline constexpr Condition kSharedNodes = {
    [](const Query& q, MPI_Count) noexcept { return q.nodes > 1 && q.most_on_node > 1; },
    "members on several nodes, more than one on some"};
inline constexpr Condition kAllNodesShared = {
    [](const Query& q, MPI_Count) noexcept { return q.nodes > 1 && q.fewest_on_node > 1; },
    "members on several nodes, more than one on each"};
inline constexpr Condition kNeighbouringRanks = {
    [](const Query& q, MPI_Count) noexcept { return q.contiguous; }, "nodes of neighbouring ranks"};
inline constexpr Condition kPowerOfTwo = {
    [](const Query& q, MPI_Count) noexcept { return std::has_single_bit(static_cast<unsigned>(q.ranks)); },
    "a power of two of members"};

// Operators.
inline constexpr Condition kCommutes = {[](const Query& q, MPI_Count) noexcept { return q.commutative; },
                                        "operators that commute"};
/// Combining node by node keeps the order of the ranks, or the operator does not mind.
inline constexpr Condition kCombinesByNode = {
    [](const Query& q, MPI_Count) noexcept { return q.commutative || q.contiguous; },
    "operators that commute or nodes of neighbouring ranks"};

// Data.
inline constexpr Condition kFitsCell = {
    [](const Query& q, MPI_Count) noexcept { return q.bytes <= q.cell_limit; },
    "at most {} with few members, less with many", kMostCell};
inline constexpr Condition kDense = {[](const Query& q, MPI_Count) noexcept { return q.dense; },
                                     "elements that may be copied as bytes"};
inline constexpr Condition kRegular = {[](const Query& q, MPI_Count) noexcept { return !q.ragged; },
                                       "not for the v- and w-forms"};
inline constexpr Condition kInPlace = {[](const Query& q, MPI_Count) noexcept { return q.in_place; },
                                       "MPI_IN_PLACE"};
inline constexpr Condition kTwoBuffers = {[](const Query& q, MPI_Count) noexcept { return !q.in_place; },
                                          "without MPI_IN_PLACE"};

// When to take it. Above the usual limits of networks bandwidth counts, below them the number of messages.
// Bytes are those of a vector, of a message, or of what goes between two members.
inline constexpr Condition kNever = {[](const Query&, MPI_Count) noexcept { return false; },
                                     "only if asked for"};
template <MPI_Count Bytes>
inline constexpr Condition kUpTo = {[](const Query& q, MPI_Count bytes) noexcept { return q.bytes <= bytes; },
                                    "by itself up to {}", Bytes};
/// Two members on two workers exchange a message each way at the same time; coming together in shared memory moves
/// more cache lines, one after the other. Nonblocking calls would need a helper fiber for messages, and come together.
/// 0 bytes: perhaps they are not known, as in the v- and w-forms.
template <MPI_Count Bytes>
inline constexpr Condition kButPairUpTo = {
    [](const Query& q, MPI_Count bytes) noexcept { return !q.pair_apart || q.bytes == 0 || q.bytes > bytes; },
    "by itself but for two members on two workers with up to {}, blocking", Bytes};
inline constexpr Condition kButPair = {[](const Query& q, MPI_Count) noexcept { return !q.pair_apart; },
                                       "by itself but for two members on two workers, blocking"};
/// Two members need no pieces, which would come back.
template <MPI_Count Bytes>
inline constexpr Condition kUpToOrPair = {
    [](const Query& q, MPI_Count bytes) noexcept { return q.bytes <= bytes || q.ranks <= 2; },
    "by itself up to {}, or for two members", Bytes};
template <MPI_Count Bytes>
inline constexpr Condition kFrom = {[](const Query& q, MPI_Count bytes) noexcept { return q.bytes >= bytes; },
                                    "by itself from {}", Bytes};
template <MPI_Count Bytes>
inline constexpr Condition kAllUpTo = {
    [](const Query& q, MPI_Count bytes) noexcept { return q.bytes * q.ranks <= bytes; },
    "by itself up to {} from all members together", Bytes};

}  // namespace tmpi::mpi
