// Scan and exscan of small vectors: each member leaves its vector in a cell, the last to come combines each
// cell with the one before it, each member takes its result when it goes on.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// A member takes the cell of the rank that is `Below` ranks below it.
template <int Below>
struct PrefixCells {
  static constexpr Amount kAmount = Amount::kVector;
  static MPI_Count stride(const Call& call) {
    return dense_bytes(*call.args.recv.type, call.args.recv.count);
  }

  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }

  static void contribute(Call& call) {
    copy_bytes(cells_of(call) + call.comm.rank * stride(call), call.args.input(), stride(call));
  }

  static void combine(Call& call) {
    const Side& recv = call.args.recv;
    std::byte* cell = cells_of(call);
    for (int i = 1; i < call.comm.size; ++i, cell += stride(call))
      reduce_local(*call.args.op, cell, cell + stride(call), recv.count, *recv.type);
  }

  static void finish(Call& call) {
    if (call.comm.rank < Below) return;
    const Side& recv = call.args.recv;
    copy_elements(static_cast<std::byte*>(recv.data),
                  cells_of(call) + (call.comm.rank - Below) * stride(call), 0, recv.count, *recv.type);
  }
};

}  // namespace

constinit const Algorithm algorithm::kScanCells{.collective = Collective::kScan,
                                                .name = "cells",
                                                .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                .preferred_for = conditions<kButPairUpTo<64>>,
                                                .forms = all_together<PrefixCells<0>>};

constinit const Algorithm algorithm::kExscanCells{.collective = Collective::kExscan,
                                                  .name = "cells",
                                                  .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                  .preferred_for = conditions<kButPairUpTo<64>>,
                                                  .forms = all_together<PrefixCells<1>>};

}  // namespace tmpi::mpi
