#include "mpi/coll/table.hpp"

#include <array>
#include <bit>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

using namespace algorithm;

// What an algorithm needs.
bool any(const Query&) {
  return true;
}
bool one_node(const Query& q) {
  return q.nodes == 1;
}
// Some node has more than one member: there is something to do inside.
bool parts(const Query& q) {
  return q.nodes > 1 && q.most_on_node > 1;
}
bool regular_parts(const Query& q) {
  return parts(q) && !q.ragged;
}
// Combining node by node keeps the order of the ranks, or the operator does not mind.
bool reducing_parts(const Query& q) {
  return parts(q) && (q.commutative || q.contiguous);
}
bool ordered_parts(const Query& q) {
  return parts(q) && q.contiguous;
}
bool reducing_columns(const Query& q) {
  return reducing_parts(q) && q.fewest_on_node > 1;
}
bool fits_cell(const Query& q) {
  return q.nodes == 1 && q.dense && q.bytes <= q.cell_limit;
}
bool regular_cell(const Query& q) {
  return q.nodes == 1 && !q.ragged && q.bytes <= q.cell_limit;
}
bool swaps(const Query& q) {
  return q.nodes == 1 && q.in_place;
}
bool regular(const Query& q) {
  return !q.ragged;
}
bool regular_power(const Query& q) {
  return !q.ragged && std::has_single_bit(static_cast<unsigned>(q.ranks));
}
bool two_buffers(const Query& q) {
  return !q.in_place;
}
bool two_buffers_node(const Query& q) {
  return q.nodes == 1 && !q.in_place;
}
bool commutes(const Query& q) {
  return q.commutative;
}

// When it is the one to take. The limits are the usual ones of networks: above them bandwidth counts, below
// them the number of messages.
bool never(const Query&) {
  return false;
}
template <MPI_Count Bytes>
bool up_to(const Query& q) {
  return q.bytes <= Bytes;
}
// Two members need no pieces, which would come back.
template <MPI_Count Bytes>
bool up_to_or_pair(const Query& q) {
  return q.bytes <= Bytes || q.ranks <= 2;
}
template <MPI_Count Bytes>
bool from(const Query& q) {
  return q.bytes >= Bytes;
}
template <MPI_Count Bytes>
bool all_up_to(const Query& q) {
  return q.bytes * q.ranks <= Bytes;
}

constexpr MPI_Count kKiB = 1024;

// What rows of hierarchy/ need.
#define PARTS "members on several nodes, more than one on some"

constexpr Algorithm kTable[] = {
    {Collective::kBarrier, "meeting", one_node, any, barrier_meeting, "members on one node", meeting_begins,
     end_nothing},
    {Collective::kBarrier, "hierarchy", parts, any, barrier_hierarchy, PARTS},
    {Collective::kBarrier, "dissemination", any, any, barrier_dissemination, "any"},

    {Collective::kBcast, "relay", one_node, any, bcast_relay, "members on one node", bcast_relay_begins,
     end_bcast_relay},
    {Collective::kBcast, "hierarchy", parts, any, bcast_hierarchy, PARTS},
    {Collective::kBcast, "binomial", any, up_to_or_pair<12 * kKiB>, bcast_binomial,
     "any; by itself up to 12 KiB, or for two members"},
    {Collective::kBcast, "scatter_allgather", any, any, bcast_scatter_allgather, "any"},

    {Collective::kGather, "relay", one_node, any, gather_relay, "members on one node", gather_relay_begins},
    {Collective::kGather, "hierarchy", regular_parts, any, gather_hierarchy, PARTS "; not for MPI_Gatherv"},
    {Collective::kGather, "binomial", regular, up_to<2 * kKiB>, gather_binomial,
     "not for MPI_Gatherv; by itself up to 2 KiB from each member"},
    {Collective::kGather, "linear", any, any, gather_linear, "any"},

    {Collective::kScatter, "relay", one_node, any, scatter_relay, "members on one node", scatter_relay_begins,
     end_scatter_relay},
    {Collective::kScatter, "hierarchy", regular_parts, any, scatter_hierarchy,
     PARTS "; not for MPI_Scatterv"},
    {Collective::kScatter, "binomial", regular, up_to<2 * kKiB>, scatter_binomial,
     "not for MPI_Scatterv; by itself up to 2 KiB to each member"},
    {Collective::kScatter, "linear", any, any, scatter_linear, "any"},

    {Collective::kAllgather, "cells", regular_cell, any, allgather_cells,
     "members on one node, small chunks; not for MPI_Allgatherv", meeting_begins, end_allgather_cells},
    {Collective::kAllgather, "pull", one_node, any, allgather_pull, "members on one node", meeting_begins,
     end_allgather_pull},
    {Collective::kAllgather, "hierarchy", regular_parts, any, allgather_hierarchy,
     PARTS "; not for MPI_Allgatherv"},
    {Collective::kAllgather, "recursive_doubling", regular_power, all_up_to<512 * kKiB>, allgather_doubling,
     "a power of two of members, not for MPI_Allgatherv; by itself up to 512 KiB in all"},
    {Collective::kAllgather, "bruck", regular, all_up_to<80 * kKiB>, allgather_bruck,
     "not for MPI_Allgatherv; by itself up to 80 KiB in all"},
    {Collective::kAllgather, "ring", any, any, allgather_ring, "any"},

    {Collective::kAlltoall, "swap", swaps, any, alltoall_swap, "members on one node, MPI_IN_PLACE",
     meeting_begins, end_nothing},
    {Collective::kAlltoall, "pull", two_buffers_node, any, alltoall_pull,
     "members on one node, without MPI_IN_PLACE", meeting_begins, end_alltoall_pull},
    {Collective::kAlltoall, "hierarchy", regular_parts, up_to<2 * kKiB>, alltoall_hierarchy,
     PARTS "; not for MPI_Alltoallv and MPI_Alltoallw; by itself up to 2 KiB for each member"},
    {Collective::kAlltoall, "bruck", regular, up_to<256>, alltoall_bruck,
     "not for MPI_Alltoallv and MPI_Alltoallw; by itself up to 256 bytes for each member"},
    {Collective::kAlltoall, "linear", two_buffers, up_to<32 * kKiB>, alltoall_linear,
     "without MPI_IN_PLACE; by itself up to 32 KiB for each member"},
    {Collective::kAlltoall, "pairwise", any, any, alltoall_pairwise, "any"},

    {Collective::kReduce, "cells", fits_cell, any, reduce_cells,
     "members on one node, small vectors of bytes that may be copied", reduce_cells_begins},
    {Collective::kReduce, "segments", one_node, any, reduce_segments, "members on one node", meeting_begins,
     end_nothing},
    {Collective::kReduce, "hierarchy", reducing_parts, any, reduce_hierarchy,
     PARTS "; operators that do not commute need nodes of neighbouring ranks"},
    {Collective::kReduce, "binomial", any, any, reduce_binomial, "any"},
    {Collective::kReduce, "linear", any, never, reduce_linear, "any; only if asked for"},

    {Collective::kAllreduce, "cells", fits_cell, any, allreduce_cells,
     "members on one node, small vectors of bytes that may be copied", meeting_begins, end_allreduce_cells},
    {Collective::kAllreduce, "segments", one_node, any, allreduce_segments, "members on one node",
     meeting_begins, end_nothing},
    {Collective::kAllreduce, "columns", reducing_columns, from<1024 * kKiB>, allreduce_columns,
     "members on several nodes, more than one on each; by itself from 1 MiB; operators that do not commute "
     "need nodes of neighbouring ranks"},
    {Collective::kAllreduce, "hierarchy", reducing_parts, any, allreduce_hierarchy,
     PARTS "; operators that do not commute need nodes of neighbouring ranks"},
    {Collective::kAllreduce, "recursive_doubling", any, up_to<2 * kKiB>, allreduce_doubling,
     "any; by itself up to 2 KiB"},
    {Collective::kAllreduce, "ring", commutes, from<4096 * kKiB>, allreduce_ring,
     "operators that commute; by itself from 4 MiB"},
    {Collective::kAllreduce, "rabenseifner", any, any, allreduce_rabenseifner, "any"},

    {Collective::kReduceScatter, "cells", fits_cell, any, reduce_scatter_cells,
     "members on one node, small vectors of bytes that may be copied", meeting_begins,
     end_reduce_scatter_cells},
    {Collective::kReduceScatter, "segments", one_node, any, reduce_scatter_segments, "members on one node",
     meeting_begins, end_nothing},
    {Collective::kReduceScatter, "hierarchy", reducing_parts, any, reduce_scatter_hierarchy,
     PARTS "; operators that do not commute need nodes of neighbouring ranks"},
    {Collective::kReduceScatter, "binomial", any, never, reduce_scatter_binomial, "any; only if asked for"},
    {Collective::kReduceScatter, "pairwise", any, any, reduce_scatter_pairwise, "any"},

    {Collective::kScan, "cells", fits_cell, any, scan_cells,
     "members on one node, small vectors of bytes that may be copied", meeting_begins, end_scan_cells},
    {Collective::kScan, "segments", one_node, any, scan_segments, "members on one node", meeting_begins,
     end_nothing},
    {Collective::kScan, "hierarchy", ordered_parts, any, scan_hierarchy,
     PARTS "; nodes of neighbouring ranks"},
    {Collective::kScan, "recursive_doubling", any, any, scan_doubling, "any"},
    {Collective::kScan, "linear", any, never, scan_linear, "any; only if asked for"},

    {Collective::kExscan, "cells", fits_cell, any, exscan_cells,
     "members on one node, small vectors of bytes that may be copied", meeting_begins, end_exscan_cells},
    {Collective::kExscan, "segments", one_node, any, exscan_segments, "members on one node", meeting_begins,
     end_nothing},
    {Collective::kExscan, "hierarchy", ordered_parts, any, exscan_hierarchy,
     PARTS "; nodes of neighbouring ranks"},
    {Collective::kExscan, "recursive_doubling", any, any, exscan_doubling, "any"},
    {Collective::kExscan, "linear", any, never, exscan_linear, "any; only if asked for"},

    {Collective::kNeighborAllgather, "direct", any, any, neighbor_direct, "any"},
    {Collective::kNeighborAlltoall, "direct", any, any, neighbor_direct, "any"},
};

#undef PARTS

constexpr const char* kNames[kCollectives] = {
    "BARRIER",   "BCAST",          "GATHER", "SCATTER", "ALLGATHER",          "ALLTOALL",         "REDUCE",
    "ALLREDUCE", "REDUCE_SCATTER", "SCAN",   "EXSCAN",  "NEIGHBOR_ALLGATHER", "NEIGHBOR_ALLTOALL"};

// Index of each collective's first row; one more for the end.
constexpr auto kFirst = [] {
  std::array<std::size_t, kCollectives + 1> first{};
  std::size_t row = 0;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    first[c] = row;
    while (row < std::size(kTable) && static_cast<std::size_t>(kTable[row].collective) == c) ++row;
  }
  first[kCollectives] = row;
  return first;
}();
static_assert(kFirst[kCollectives] == std::size(kTable),
              "the table's rows stand in the order of enum Collective");

// Bytes that all members agree on, if they are no reduction's and all chunks are alike.
MPI_Count regular_bytes(const Comm& comm, const Args& args) {
  switch (args.collective) {
    case Collective::kGather:
      return (comm.rank == args.root ? args.recv : args.send).whole().bytes();
    case Collective::kScatter:
      return (comm.rank == args.root ? args.send : args.recv).whole().bytes();
    case Collective::kBcast:
    case Collective::kAllgather:
    case Collective::kAlltoall:
      return args.recv.whole().bytes();
    default:
      return 0;
  }
}

// Bytes of the whole vector; the sum is not taken further than it matters.
MPI_Count scattered_bytes(const Comm& comm, const Args& args, MPI_Count limit) {
  const Datatype& type = *args.recv.type;
  if (!args.recv.counts) return comm.size * dense_bytes(type, args.recv.count);
  MPI_Count bytes = 0;
  for (int i = 0; i < comm.size && bytes <= limit; ++i) bytes += dense_bytes(type, args.recv.counts[i]);
  return std::min(bytes, limit + 1);
}

Query query_of(Comm& comm, const Args& args) {
  const LaneLayout& layout = meeting_of(comm).layout();
  Query query;
  query.ranks = comm.size;
  if (layout.nodes > 1) {
    const NodeMap& map = comm.shared->coll->node_map();
    query.nodes = map.nodes();
    query.most_on_node = map.most();
    query.fewest_on_node = map.fewest();
    query.contiguous = map.contiguous();
  }
  query.cell_limit = layout.cell_bytes;
  query.in_place = args.in_place;
  query.ragged = args.ragged;
  if (args.op != nullptr) {
    const Datatype& type = *args.recv.type;
    query.commutative = args.op->commutative;
    query.dense = dense(type);
    query.bytes = args.collective == Collective::kReduceScatter
                      ? scattered_bytes(comm, args, query.cell_limit)
                      : dense_bytes(type, args.recv.count);
  } else if (!args.ragged) {
    query.bytes = regular_bytes(comm, args);
  }
  return query;
}

}  // namespace

std::span<const Algorithm> algorithms(Collective collective) noexcept {
  const auto c = static_cast<std::size_t>(collective);
  return std::span(kTable).subspan(kFirst[c], kFirst[c + 1] - kFirst[c]);
}

const char* name_of(Collective collective) noexcept {
  return kNames[static_cast<int>(collective)];
}

const Algorithm* select(Comm& comm, const Args& args, bool part) {
  const Query query = query_of(comm, args);
  if (const Algorithm* preferred = part ? nullptr : preferred_algorithm(args.collective)) [[unlikely]] {
    if (preferred->works(query)) return preferred;
    report_fallback(*preferred);
  }
  for (const Algorithm& row : algorithms(args.collective)) {
    if (row.works(query) && row.suits(query)) return &row;
  }
  return nullptr;
}

namespace {

Err none_works(const Args& args) {
  return fail(MPI_ERR_INTERN, "no algorithm of MPI_{} works for this call", name_of(args.collective));
}

}  // namespace

Err run(Comm& comm, Args& args) {
  const InCollective note(comm);
  if (comm.inter()) return run_inter(comm, args);
  const Algorithm* algorithm = select(comm, args);
  if (algorithm == nullptr) [[unlikely]]
    return none_works(args);
  return algorithm->run(comm, args);
}

Err run_part(Comm& part, Args& args) {
  const Algorithm* algorithm = select(part, args, true);
  return algorithm != nullptr ? algorithm->run(part, args) : none_works(args);
}

Err barrier(Comm& comm) {
  Args args{.collective = Collective::kBarrier};
  return run(comm, args);
}

}  // namespace tmpi::mpi
