#include "mpi/coll/table.hpp"

#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/coll/wanted.hpp"
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
[[gnu::always_inline]] inline MPI_Count regular_bytes(const Comm& comm, const Args& args) {
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
[[gnu::noinline]] MPI_Count scattered_bytes(Comm& comm, const Args& args) {
  const Datatype& type = *args.recv.type;
  if (!args.recv.counts) return comm.size * dense_bytes(type, args.recv.count);
  const MPI_Count limit = barrier_of(comm).groups().cell_bytes;
  MPI_Count elements = 0;
  for (int i = 0; i < comm.size && elements <= limit; ++i) elements += args.recv.counts[i];
  // An element has one byte at least, or all have none.
  return std::min(dense_bytes(type, std::min(elements, limit + 1)), limit + 1);
}

// Query::bytes.
[[gnu::always_inline]] inline MPI_Count bytes_of(Comm& comm, const Args& args) {
  if (args.op == nullptr) return args.ragged ? 0 : regular_bytes(comm, args);
  if (args.collective == Collective::kReduceScatter) return scattered_bytes(comm, args);
  return dense_bytes(*args.recv.type, args.recv.count);
}

Query query_of(Comm& comm, const Args& args, MPI_Count bytes) {
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
  query.pair_apart = comm.size == 2 && groups.count() == 2 && comm.stands_for == nullptr;
  query.bytes = bytes;
  query.cell_limit = groups.cell_bytes;
  query.in_place = args.in_place;
  query.ragged = args.ragged;
  if (args.op != nullptr) {
    query.commutative = args.op->commutative;
    query.dense = dense(*args.recv.type);
  }
  return query;
}

// What query_of() takes from the call, in one number that is not 0; 0: it does not fit into one.
[[gnu::always_inline]] inline std::uint64_t call_of(const Args& args, bool part, MPI_Count bytes) {
  constexpr unsigned kCollectiveBits = 8, kBytesBits = 16;
  static_assert(std::size(kTable) <= std::size_t{1} << (kBytesBits - kCollectiveBits));
  unsigned kind = 1U | (args.in_place ? 2U : 0U) | (args.ragged ? 4U : 0U) | (part ? 8U : 0U) |
                  unsigned{static_cast<unsigned char>(args.collective)} << kCollectiveBits;
  if (args.op != nullptr) kind |= (args.op->commutative ? 16U : 0U) | (dense(*args.recv.type) ? 32U : 0U);
  const auto size = static_cast<std::uint64_t>(bytes);
  if (size >> (64 - kBytesBits) != 0) [[unlikely]]
    return 0;
  return size << kBytesBits | kind;
}

}  // namespace

std::atomic<ChoiceObserver> detail::g_choice_observer{nullptr};

std::span<const Row> algorithms(Collective collective) noexcept {
  return kTable[static_cast<std::size_t>(collective)].rows;
}

const char* name_of(Collective collective) noexcept {
  return kTable[static_cast<std::size_t>(collective)].name;
}

namespace {

// --coll is this job's: what ranks of another job choose they choose without it.
const Algorithm* preferred_for(const Comm& comm, Collective collective, bool part) {
  return part || comm.shared->other_job != nullptr ? nullptr : preferred_algorithm(collective);
}

const Algorithm* look_up(const Comm& comm, const Query& query, Collective collective, bool part) {
  if (const Algorithm* wanted = part ? nullptr : wanted_algorithm(comm, collective)) {
    if (wanted->works(query)) return wanted;
  }
  if (const Algorithm* preferred = preferred_for(comm, collective, part)) {
    if (preferred->works(query)) return preferred;
    if (!reproducible()) report_fallback(*preferred);
  }
  for (const Algorithm& row : algorithms(collective)) {
    if (row.works(query) && row.suits(query)) return &row;
  }
  return nullptr;
}

[[gnu::noinline]] const Algorithm* choose(ChosenAlgorithm& chosen, Comm& comm, const Args& args, bool part) {
  const Query query = query_of(comm, args, bytes_of(comm, args));
  const Algorithm* const found = look_up(comm, query, args.collective, part);
  chosen = {call_of(args, part, query.bytes), found};
  // The observer may call a tool, and that ask for another algorithm: for the next time.
  if (const ChoiceObserver observer = detail::g_choice_observer.load(std::memory_order_acquire);
      observer != nullptr && comm.owner != nullptr && found != nullptr)
    observer(*comm.owner, *found, query);
  return found;
}

}  // namespace

// A program calls the same collectives again and again: the table is asked once, then the choice is at hand.
const Algorithm* select(Comm& comm, const Args& args, bool part) {
  ChosenAlgorithm& chosen = comm.chosen[static_cast<std::size_t>(args.collective)];
  const std::uint64_t call = call_of(args, part, bytes_of(comm, args));
  if (chosen.call == call && call != 0) [[likely]]
    return chosen.algorithm;
  return choose(chosen, comm, args, part);
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
