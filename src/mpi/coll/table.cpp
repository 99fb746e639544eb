#include "mpi/coll/table.hpp"

#include <array>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/coll_shared.hpp"
#include "mpi/coll/fold.hpp"

namespace tmpi::mpi {
namespace {

using namespace algorithm;

bool one_node(const Query& q) {
  return q.nodes == 1;
}
bool small(const Query& q) {
  return q.nodes == 1 && q.dense && q.bytes <= q.cell_limit;
}
bool in_place(const Query& q) {
  return q.nodes == 1 && q.in_place;
}

// Collectives across nodes will add rows that apply to nodes > 1.
constexpr Algorithm kTable[] = {
    {Collective::kBarrier, "meeting", one_node, barrier_meeting},
    {Collective::kBcast, "relay", one_node, bcast_relay},
    {Collective::kGather, "relay", one_node, gather_relay},
    {Collective::kScatter, "relay", one_node, scatter_relay},
    {Collective::kAllgather, "pull", one_node, allgather_pull},
    {Collective::kAlltoall, "swap", in_place, alltoall_swap},
    {Collective::kAlltoall, "pull", one_node, alltoall_pull},
    {Collective::kReduce, "cells", small, reduce_cells},
    {Collective::kReduce, "segments", one_node, reduce_segments},
    {Collective::kAllreduce, "cells", small, allreduce_cells},
    {Collective::kAllreduce, "segments", one_node, allreduce_segments},
    {Collective::kReduceScatter, "segments", one_node, reduce_scatter_segments},
    {Collective::kScan, "segments", one_node, scan_segments},
    {Collective::kExscan, "segments", one_node, exscan_segments},
};

constexpr const char* kNames[kCollectives] = {"BARRIER",        "BCAST",    "GATHER", "SCATTER",
                                              "ALLGATHER",      "ALLTOALL", "REDUCE", "ALLREDUCE",
                                              "REDUCE_SCATTER", "SCAN",     "EXSCAN"};

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

Query query_of(Comm& comm, const Args& args) {
  const LaneLayout& layout = meeting_of(comm).layout();
  Query query;
  query.ranks = comm.size;
  query.nodes = layout.nodes;
  query.cell_limit = layout.cell_bytes;
  query.in_place = args.in_place;
  if (args.op != nullptr) {
    const Datatype& type = *args.recv.type;
    query.commutative = args.op->commutative;
    query.dense = dense(type);
    query.bytes = dense_bytes(type, args.recv.count);
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

const Algorithm* select(Comm& comm, const Args& args) {
  const Query query = query_of(comm, args);
  for (const Algorithm& row : algorithms(args.collective)) {
    if (row.applies(query)) return &row;
  }
  return nullptr;
}

Err run(Comm& comm, Args& args) {
  const Algorithm* algorithm = select(comm, args);
  if (algorithm == nullptr) [[unlikely]] {
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "no algorithm of MPI_{} applies: the communicator has members on several nodes",
                name_of(args.collective));
  }
  return algorithm->run(comm, args);
}

Err barrier(Comm& comm) {
  Args args{.collective = Collective::kBarrier};
  return run(comm, args);
}

}  // namespace tmpi::mpi
