// Allreduce of large vectors: when all are there, each worker group's leader folds its share of the vector,
// block by block, and writes each block, hot in its cache, to all members. Every input is read once and every
// output written once. Arguments in place are right: a block is written after it has been read from
// everybody.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct AllreduceSegments {
  static constexpr Amount kAmount = Amount::kVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    const Args& args = call.args;
    const Datatype& type = *args.recv.type;
    Args* const* members = members_of(call);
    const int n = call.comm.size;
    for_blocks(args.recv.count, type, leader.group(), leader.groups(), [&](MPI_Count first, MPI_Count count) {
      std::byte* block = scratch_elements(0, count, type);
      fold_block(*args.op, type, members, n, first, count, block);
      for (int i = 0; i < n; ++i) {
        copy_elements(static_cast<std::byte*>(members[i]->recv.data) + first * type.extent(), block, 0, count,
                      type);
      }
    });
  }
};

}  // namespace

constinit const Algorithm algorithm::kAllreduceSegments{.collective = Collective::kAllreduce,
                                                        .name = "segments",
                                                        .needs = conditions<kOneNode>,
                                                        .preferred_for = conditions<kButPairUpTo<128>>,
                                                        .forms = all_together<AllreduceSegments>};

}  // namespace tmpi::mpi
