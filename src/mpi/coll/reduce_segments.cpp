// Reduce of large vectors: when all are there, each worker group's leader folds its share of the vector,
// block by block, from the members' buffers into the root's.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct ReduceSegments {
  static constexpr Amount kAmount = Amount::kRootedVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    const Args& args = call.args;
    const Datatype& type = *args.recv.type;
    Args* const* members = members_of(call);
    auto* result = static_cast<std::byte*>(members[args.root]->recv.data);
    for_blocks(args.recv.count, type, leader.group(), leader.groups(), [&](MPI_Count first, MPI_Count count) {
      std::byte* block = scratch_elements(0, count, type);
      fold_block(*args.op, type, members, call.comm.size, first, count, block);
      copy_elements(result + first * type.extent(), block, 0, count, type);
    });
  }
};

}  // namespace

constinit const Algorithm algorithm::kReduceSegments{.collective = Collective::kReduce,
                                                     .name = "segments",
                                                     .needs = conditions<kOneNode>,
                                                     .forms = all_together<ReduceSegments>};

}  // namespace tmpi::mpi
