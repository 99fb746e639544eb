// Exscan: as scan, but member i gets what its predecessors combine to; member 0 gets nothing. A running
// result in scratch memory makes arguments in place right.
#include <utility>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

void exscan_block(const Args& args, Args* const* members, int n, MPI_Count first, MPI_Count count) {
  const Datatype& type = *args.recv.type;
  const MPI_Count offset = first * type.extent();
  std::byte* before = scratch_elements(0, count, type);
  std::byte* next = scratch_elements(1, count, type);
  copy_elements(before, members[0]->input() + offset, 0, count, type);
  for (int i = 1; i < n; ++i) {
    fetch_ahead(members, n, i, 1, offset);
    const bool more = i + 1 < n;
    if (more) copy_elements(next, members[i]->input() + offset, 0, count, type);
    copy_elements(static_cast<std::byte*>(members[i]->recv.data) + offset, before, 0, count, type);
    if (more) reduce_local(*args.op, before, next, count, type);
    std::swap(before, next);
  }
}

struct ExscanSegments {
  static constexpr Amount kAmount = Amount::kVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    const Args& args = call.args;
    for_blocks(args.recv.count, *args.recv.type, leader.group(), leader.groups(),
               [&](MPI_Count first, MPI_Count count) {
                 exscan_block(args, members_of(call), call.comm.size, first, count);
               });
  }
};

}  // namespace

constinit const Algorithm algorithm::kExscanSegments{.collective = Collective::kExscan,
                                                     .name = "segments",
                                                     .needs = conditions<kOneNode>,
                                                     .preferred_for = conditions<kButPairUpTo<64>>,
                                                     .forms = all_together<ExscanSegments>};

}  // namespace tmpi::mpi
