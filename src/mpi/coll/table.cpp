#include "mpi/coll/table.hpp"

#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

using namespace algorithm;

using Row = std::reference_wrapper<const Algorithm>;

constexpr Row kBarrierRows[] = {kBarrierShared, kBarrierHierarchy, kBarrierDissemination};
constexpr Row kBcastRows[] = {kBcastRing, kBcastHierarchy, kBcastBinomial, kBcastScatterAllgather};
constexpr Row kGatherRows[] = {kGatherRing, kGatherHierarchy, kGatherBinomial, kGatherLinear};
constexpr Row kScatterRows[] = {kScatterRing, kScatterHierarchy, kScatterBinomial, kScatterLinear};
constexpr Row kAllgatherRows[] = {kAllgatherCells,    kAllgatherPull,  kAllgatherHierarchy,
                                  kAllgatherDoubling, kAllgatherBruck, kAllgatherRing};
constexpr Row kAlltoallRows[] = {kAlltoallSwap,  kAlltoallPull,   kAlltoallHierarchy,
                                 kAlltoallBruck, kAlltoallLinear, kAlltoallPairwise};
constexpr Row kReduceRows[] = {kReduceCells,    kReduceSegments, kReduceHierarchy,
                               kReduceBinomial, kReduceLinear,   kReduceRankOrder};
constexpr Row kAllreduceRows[] = {kAllreduceCells,        kAllreduceSegments, kAllreduceInterNode,
                                  kAllreduceHierarchy,    kAllreduceDoubling, kAllreduceRing,
                                  kAllreduceRabenseifner, kAllreduceRankOrder};
constexpr Row kReduceScatterRows[] = {kReduceScatterCells,     kReduceScatterSegments,
                                      kReduceScatterHierarchy, kReduceScatterBinomial,
                                      kReduceScatterPairwise,  kReduceScatterRankOrder};
constexpr Row kScanRows[] = {kScanCells,    kScanSegments, kScanHierarchy,
                             kScanDoubling, kScanLinear,   kScanRankOrder};
constexpr Row kExscanRows[] = {kExscanCells,    kExscanSegments, kExscanHierarchy,
                               kExscanDoubling, kExscanLinear,   kExscanRankOrder};
constexpr Row kNeighborAllgatherRows[] = {kNeighborAllgatherDirect};
constexpr Row kNeighborAlltoallRows[] = {kNeighborAlltoallDirect};

// In the order of enum Collective.
constexpr struct {
  const char* name;
  std::span<const Row> rows;
} kTable[kCollectives] = {{"BARRIER", kBarrierRows},
                          {"BCAST", kBcastRows},
                          {"GATHER", kGatherRows},
                          {"SCATTER", kScatterRows},
                          {"ALLGATHER", kAllgatherRows},
                          {"ALLTOALL", kAlltoallRows},
                          {"REDUCE", kReduceRows},
                          {"ALLREDUCE", kAllreduceRows},
                          {"REDUCE_SCATTER", kReduceScatterRows},
                          {"SCAN", kScanRows},
                          {"EXSCAN", kExscanRows},
                          {"NEIGHBOR_ALLGATHER", kNeighborAllgatherRows},
                          {"NEIGHBOR_ALLTOALL", kNeighborAlltoallRows}};

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
  const WorkerGroups& groups = barrier_of(comm).groups();
  Query query;
  query.ranks = comm.size;
  if (groups.nodes > 1) {
    const NodeMap& map = comm.shared->coll->node_map();
    query.nodes = map.nodes();
    query.most_on_node = map.most();
    query.fewest_on_node = map.fewest();
    query.contiguous = map.contiguous();
  }
  query.pair_apart = comm.size == 2 && groups.count() == 2;
  query.cell_limit = groups.cell_bytes;
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

std::span<const Row> algorithms(Collective collective) noexcept {
  return kTable[static_cast<std::size_t>(collective)].rows;
}

const char* name_of(Collective collective) noexcept {
  return kTable[static_cast<std::size_t>(collective)].name;
}

const Algorithm* select(Comm& comm, const Args& args, bool part) {
  const Query query = query_of(comm, args);
  if (const Algorithm* preferred = part ? nullptr : preferred_algorithm(args.collective)) [[unlikely]] {
    if (preferred->works(query)) return preferred;
    if (!reproducible()) report_fallback(*preferred);
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
  return algorithm->forms.run(comm, args);
}

Err run_part(Comm& part, Args& args) {
  const Algorithm* algorithm = select(part, args, true);
  return algorithm != nullptr ? algorithm->forms.run(part, args) : none_works(args);
}

Err barrier(Comm& comm) {
  Args args{.collective = Collective::kBarrier};
  return run(comm, args);
}

}  // namespace tmpi::mpi
