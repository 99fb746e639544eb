// Reduce_scatter and reduce_scatter_block of small vectors: each member leaves its vector in a cell, the last
// to come folds the cells, each member takes its chunk of the result when it goes on.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// Elements of the chunks before `member`'s; with the number of members: of all.
MPI_Count elements_before(const Args& args, int member) {
  if (!args.recv.counts) return member * args.recv.count;
  MPI_Count elements = 0;
  for (int i = 0; i < member; ++i) elements += args.recv.counts[i];
  return elements;
}

struct ReduceScatterCells {
  static constexpr Amount kAmount = Amount::kChunks;
  static bool empty(const Comm& comm, const Args& args) { return elements_before(args, comm.size) == 0; }

  static void contribute(Call& call) {
    const MPI_Count bytes = dense_bytes(*call.args.recv.type, elements_before(call.args, call.comm.size));
    copy_bytes(cells_of(call) + call.comm.rank * bytes, call.args.input(), bytes);
  }

  static void combine(Call& call) {
    const Args& args = call.args;
    fold_cells(*args.op, *args.recv.type, elements_before(args, call.comm.size), cells_of(call),
               call.comm.size);
  }

  static void finish(Call& call) {
    const Args& args = call.args;
    const Datatype& type = *args.recv.type;
    const int rank = call.comm.rank, n = call.comm.size;
    const std::byte* result = folded(*args.op, type, elements_before(args, n), cells_of(call), n);
    copy_elements(static_cast<std::byte*>(args.recv.data),
                  result + dense_bytes(type, elements_before(args, rank)), 0, reduced_count(args, rank),
                  type);
  }
};

}  // namespace

constinit const Algorithm algorithm::kReduceScatterCells{.collective = Collective::kReduceScatter,
                                                         .name = "cells",
                                                         .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                         .preferred_for = conditions<kButPairUpTo<128>>,
                                                         .forms = all_together<ReduceScatterCells>};

}  // namespace tmpi::mpi
