// Reduce of small vectors: a member leaves its vector in a cell and goes on; the root waits for all and folds
// the cells.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct ReduceCells {
  static constexpr Amount kAmount = Amount::kVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }
  static MPI_Count bytes(const Call& call) { return dense_bytes(*call.args.recv.type, call.args.recv.count); }

  static void leave(Call& call, SlotRing& ring, SlotRing::Slot& slot, MPI_Count bytes) {
    copy_bytes(ring.cells(slot) + call.comm.rank * bytes, call.args.input(), bytes);
  }

  static void own(Call& call, SlotRing& ring, SlotRing::Slot& slot) { leave(call, ring, slot, bytes(call)); }

  static void take(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    const Side& recv = call.args.recv;
    const std::byte* result =
        fold_cells(*call.args.op, *recv.type, recv.count, ring.cells(slot), call.comm.size);
    copy_elements(static_cast<std::byte*>(recv.data), result, 0, recv.count, *recv.type);
  }
};

}  // namespace

constinit const Algorithm algorithm::kReduceCells{.collective = Collective::kReduce,
                                                  .name = "cells",
                                                  .needs = conditions<kOneNode, kDense, kFitsCell>,
                                                  .forms = to_root<ReduceCells>};

}  // namespace tmpi::mpi
