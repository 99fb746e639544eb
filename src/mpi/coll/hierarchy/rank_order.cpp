// Reductions with members in several node processes, to the bit what they are in one: --coll reproducible. The
// vectors of all members come to whoever combines them, and are combined as one process does it (fold.hpp,
// scan_cells.cpp), an order that depends on the members' ranks and the size of the vector alone. Small vectors
// go to everybody; of large ones each member gets its share of all of them, combines that, and hands it on: so
// each member sends and receives its vector about twice, and combines as much as in one process. Whoever has got a share
// of another size takes part in the second exchange all the same: the others wait for it.
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/coll/fold.hpp"
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kGatheredBytes = 32 * kKiB;  // up to here all vectors together go to everybody

using Counts = std::vector<MPI_Count>;

// Consecutive chunks of these counts.
Counts begins_of(const Counts& counts) {
  Counts begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), MPI_Count{0});
  return begins;
}

Counts even_shares(MPI_Count total, int members) {
  Counts counts;
  for (int i = 0; i < members; ++i) {
    const Share share = share_of(total, i, members);
    counts.push_back(share.last - share.first);
  }
  return counts;
}

// Which part of the vector each member combines.
struct Shares {
  Shares(Counts of_members, int rank)
      : counts(std::move(of_members)),
        begins(begins_of(counts)),
        mine(counts[static_cast<std::size_t>(rank)]) {}
  // Even ones.
  Shares(MPI_Count total, const Comm& comm) : Shares(even_shares(total, comm.size), comm.rank) {}

  Side side(const void* data, const Datatype& type) const {
    return {.data = const_cast<void*>(data), .type = &type, .counts = counts.data(), .displs = begins.data()};
  }

  Counts counts, begins;
  MPI_Count mine;  // elements of the caller's
};

Side vector_of(const void* data, MPI_Count count, const Datatype& type) {
  return {.data = const_cast<void*>(data), .count = count, .type = &type};
}

// One reduction of `total` elements.
class RankOrder {
 public:
  RankOrder(Comm& comm, const Args& args, MPI_Count total)
      : comm_(comm), args_(args), type_(*args.recv.type), total_(total) {
    // As the selection does in one process: what fits into cells is folded by halves.
    cells_ = dense(type_) && dense_bytes(type_, total) <= cell_limit(comm.size);
  }

  bool gathers() const noexcept { return type_.size() * total_ <= kGatheredBytes / comm_.size; }

  /// All vectors, one behind the other, at everybody.
  std::byte* gather_all(Err& error) {
    Args all{.collective = Collective::kAllgather};
    all.send = vector_of(args_.input(), total_, type_);
    all.recv = vector_of(make_room(total_), total_, type_);
    error = run_part(comm_, all);
    return room_->data();
  }
  /// The same at `root` only.
  std::byte* gather_at(int root, Err& error) {
    Args all{.collective = Collective::kGather, .root = root};
    all.send = vector_of(args_.input(), total_, type_);
    if (comm_.rank == root) all.recv = vector_of(make_room(total_), total_, type_);
    error = run_part(comm_, all);
    return room_ != nullptr ? room_->data() : nullptr;
  }
  /// Of all vectors my share, one behind the other.
  std::byte* gather_share(const Shares& shares, Err& error) {
    const Shares from = mine_of_all(shares);
    Args exchange{.collective = Collective::kAlltoall, .ragged = true};
    exchange.send = shares.side(args_.input(), type_);
    exchange.recv = from.side(make_room(shares.mine), type_);
    error = run_part(comm_, exchange);
    return room_->data();
  }
  /// Of the result my share; after an error something of that size.
  std::byte* folded_share(const Shares& shares, StageErrors& errors) {
    Err error;
    std::byte* const vectors = gather_share(shares, error);
    errors.add(error);
    return error ? vectors : fold(vectors, shares.mine);
  }
  /// Back from gather_share(): member i gets its vector's shares.
  Err return_shares(std::byte* vectors, const Shares& shares, void* result) {
    const Shares to = mine_of_all(shares);
    Args exchange{.collective = Collective::kAlltoall, .ragged = true};
    exchange.send = to.side(vectors, type_);
    exchange.recv = shares.side(result, type_);
    return run_part(comm_, exchange);
  }

  /// Combines vectors of `count` elements; the place of the result.
  std::byte* fold(std::byte* vectors, MPI_Count count) const {
    if (cells_) return fold_cells(*args_.op, type_, count, vectors, comm_.size);
    return fold_in_order(*args_.op, type_, count, vectors, comm_.size);
  }
  /// Combines each of the vectors with those before it, up to that of `last`.
  void scan(std::byte* vectors, MPI_Count count, int last) const {
    const MPI_Count stride = dense_bytes(type_, count);
    for (int i = 0; i < last; ++i, vectors += stride)
      reduce_local(*args_.op, vectors, vectors + stride, count, type_);
  }
  void take(const std::byte* from, MPI_Count count) const {
    copy_elements(static_cast<std::byte*>(args_.recv.data), from, 0, count, type_);
  }

 private:
  // My share of everybody's vector.
  Shares mine_of_all(const Shares& shares) const {
    return {Counts(shares.counts.size(), shares.mine), comm_.rank};
  }
  std::byte* make_room(MPI_Count count) {
    room_ = std::make_unique<ElementBuffer>(type_, count * comm_.size);
    return room_->data();
  }

  Comm& comm_;
  const Args& args_;
  const Datatype& type_;
  const MPI_Count total_;
  bool cells_;
  std::unique_ptr<ElementBuffer> room_;
};

Err allreduce(Comm& comm, Args& args) {
  const MPI_Count total = args.recv.count;
  if (total == 0) return kOk;
  RankOrder order(comm, args, total);
  Err error;
  if (order.gathers()) {
    std::byte* vectors = order.gather_all(error);
    if (!error) order.take(order.fold(vectors, total), total);
    return error;
  }
  const Datatype& type = *args.recv.type;
  const Shares shares(total, comm);
  StageErrors errors;
  std::byte* const mine = order.folded_share(shares, errors);
  Args all{.collective = Collective::kAllgather, .ragged = true};
  all.send = vector_of(mine, shares.mine, type);
  all.recv = shares.side(args.recv.data, type);
  errors.add(run_part(comm, all));
  return errors.result();
}

Err reduce(Comm& comm, Args& args) {
  const MPI_Count total = args.recv.count;
  if (total == 0) return kOk;
  RankOrder order(comm, args, total);
  Err error;
  if (order.gathers()) {
    std::byte* vectors = order.gather_at(args.root, error);
    if (!error && comm.rank == args.root) order.take(order.fold(vectors, total), total);
    return error;
  }
  const Datatype& type = *args.recv.type;
  const Shares shares(total, comm);
  StageErrors errors;
  std::byte* const mine = order.folded_share(shares, errors);
  Args to_root{.collective = Collective::kGather, .root = args.root, .ragged = true};
  to_root.send = vector_of(mine, shares.mine, type);
  if (comm.rank == args.root) to_root.recv = shares.side(args.recv.data, type);
  errors.add(run_part(comm, to_root));
  return errors.result();
}

Err reduce_scatter(Comm& comm, Args& args) {
  Counts counts;
  for (int i = 0; i < comm.size; ++i) counts.push_back(reduced_count(args, i));
  const MPI_Count total = std::accumulate(counts.begin(), counts.end(), MPI_Count{0});
  if (total == 0) return kOk;
  RankOrder order(comm, args, total);
  Err error;
  const Shares shares(std::move(counts), comm.rank);
  std::byte* vectors = order.gather_share(shares, error);
  if (!error && shares.mine > 0) order.take(order.fold(vectors, shares.mine), shares.mine);
  return error;
}

// A member takes the result of the rank that is `below` ranks below it.
Err scan(Comm& comm, Args& args, int below) {
  const MPI_Count total = args.recv.count;
  if (total == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const int taken = comm.rank - below;
  RankOrder order(comm, args, total);
  Err error;
  if (order.gathers()) {
    std::byte* vectors = order.gather_all(error);
    if (error || taken < 0) return error;
    order.scan(vectors, total, taken);
    order.take(vectors + taken * dense_bytes(type, total), total);
    return kOk;
  }
  const Shares shares(total, comm);
  StageErrors errors;
  std::byte* vectors = order.gather_share(shares, error);
  errors.add(error);
  if (!error) order.scan(vectors, shares.mine, comm.size - 1);
  if (below == 0) {
    errors.add(order.return_shares(vectors, shares, args.recv.data));
    return errors.result();
  }
  // Member i gets the result of member i - 1; what comes to member 0 is nothing of its own.
  const MPI_Count stride = dense_bytes(type, shares.mine);
  ElementBuffer shifted(type, shares.mine * comm.size);
  for (int i = 0; i < comm.size; ++i)
    copy_elements(shifted.data() + i * stride, vectors + std::max(i - below, 0) * stride, 0, shares.mine,
                  type);
  ElementBuffer nowhere(type, comm.rank == 0 ? total : 0);
  errors.add(order.return_shares(shifted.data(), shares, comm.rank == 0 ? nowhere.data() : args.recv.data));
  return errors.result();
}

Err inclusive(Comm& comm, Args& args) {
  return scan(comm, args, 0);
}
Err exclusive(Comm& comm, Args& args) {
  return scan(comm, args, 1);
}

constexpr Algorithm in_rank_order(Collective collective, Err (*run)(Comm&, Args&)) {
  return {.collective = collective,
          .name = "rank_order",
          .needs = conditions<kSeveralNodes>,
          .preferred_for = conditions<kNever>,
          .forms = {.run = run}};
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceRankOrder = in_rank_order(Collective::kAllreduce, allreduce);
constinit const Algorithm algorithm::kReduceRankOrder = in_rank_order(Collective::kReduce, reduce);
constinit const Algorithm algorithm::kReduceScatterRankOrder =
    in_rank_order(Collective::kReduceScatter, reduce_scatter);
constinit const Algorithm algorithm::kScanRankOrder = in_rank_order(Collective::kScan, inclusive);
constinit const Algorithm algorithm::kExscanRankOrder = in_rank_order(Collective::kExscan, exclusive);

}  // namespace tmpi::mpi
