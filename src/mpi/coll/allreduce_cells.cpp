// Allreduce of small vectors: each member leaves its vector in a cell, the last to come folds the cells, each
// member takes the result when it goes on. The cells are used again two barriers later, when everybody has
// taken it.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct AllreduceCells {
  static constexpr Amount kAmount = Amount::kVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }

  static void contribute(Call& call) {
    const MPI_Count bytes = dense_bytes(*call.args.recv.type, call.args.recv.count);
    copy_bytes(cells_of(call) + call.comm.rank * bytes, call.args.input(), bytes);
  }

  static void combine(Call& call) {
    const Side& recv = call.args.recv;
    fold_cells(*call.args.op, *recv.type, recv.count, cells_of(call), call.comm.size);
  }

  static void finish(Call& call) {
    const Side& recv = call.args.recv;
    copy_elements(static_cast<std::byte*>(recv.data),
                  folded(*call.args.op, *recv.type, recv.count, cells_of(call), call.comm.size), 0,
                  recv.count, *recv.type);
  }
};

}  // namespace

constinit const Algorithm algorithm::kAllreduceCells{.collective = Collective::kAllreduce,
                                                     .name = "cells",
                                                     .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                     .preferred_for = conditions<kButPairUpTo<128>>,
                                                     .forms = all_together<AllreduceCells>};

}  // namespace tmpi::mpi
