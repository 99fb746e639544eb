// Reduce_scatter and reduce_scatter_block of small vectors: each member leaves its vector in a cell, the last
// to come folds the cells, each member takes its chunk of the result when it goes on.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// Elements of the chunks of members [first, last).
MPI_Count elements_of_chunks(const Args& args, int first, int last) {
  if (!args.recv.counts) return (last - first) * args.recv.count;
  MPI_Count elements = 0;
  for (int i = first; i < last; ++i) elements += args.recv.counts[i];
  return elements;
}

struct ReduceScatterCells {
  static constexpr Amount kAmount = Amount::kChunks;
  static bool empty(const Comm& comm, const Args& args) {
    for (int i = 0; i < comm.size; ++i) {
      if (reduced_count(args, i) != 0) return false;
    }
    return true;
  }

  static void contribute(Call& call) {
    const MPI_Count bytes =
        dense_bytes(*call.args.recv.type, elements_of_chunks(call.args, 0, call.comm.size));
    copy_bytes(cells_of(call) + call.comm.rank * bytes, call.args.input(), bytes);
  }

  static void combine(Call& call) {
    const Args& args = call.args;
    fold_cells(*args.op, *args.recv.type, elements_of_chunks(args, 0, call.comm.size), cells_of(call),
               call.comm.size);
  }

  static void finish(Call& call) {
    const Args& args = call.args;
    const Datatype& type = *args.recv.type;
    const int rank = call.comm.rank, n = call.comm.size;
    const MPI_Count before = elements_of_chunks(args, 0, rank);
    const std::byte* result =
        folded(*args.op, type, before + elements_of_chunks(args, rank, n), cells_of(call), n);
    copy_elements(static_cast<std::byte*>(args.recv.data), result + dense_bytes(type, before), 0,
                  reduced_count(args, rank), type);
  }
};

}  // namespace

constinit const Algorithm algorithm::kReduceScatterCells{.collective = Collective::kReduceScatter,
                                                         .name = "cells",
                                                         .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                         .preferred_for = conditions<kButPairUpTo<128>>,
                                                         .forms = all_together<ReduceScatterCells>};

}  // namespace tmpi::mpi
