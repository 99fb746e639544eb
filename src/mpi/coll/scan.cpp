// Scan: when all are there, each worker group's leader runs through the ranks with its share of the vector,
// block by block; a member's block is combined with its predecessor's result, which has just been written.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

void scan_block(const Args& args, Args* const* members, int n, MPI_Count first, MPI_Count count) {
  const Datatype& type = *args.recv.type;
  const MPI_Count offset = first * type.extent();
  const std::byte* before = nullptr;
  for (int i = 0; i < n; ++i) {
    fetch_ahead(members, n, i, 1, offset);
    std::byte* result = static_cast<std::byte*>(members[i]->recv.data) + offset;
    if (!members[i]->in_place) copy_elements(result, members[i]->input() + offset, 0, count, type);
    if (before != nullptr) reduce_local(*args.op, before, result, count, type);
    before = result;
  }
}

struct ScanSegments {
  static constexpr Amount kAmount = Amount::kVector;
  static bool empty(const Comm&, const Args& args) { return args.recv.count == 0; }
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    const Args& args = call.args;
    for_blocks(args.recv.count, *args.recv.type, leader.group(), leader.groups(),
               [&](MPI_Count first, MPI_Count count) {
                 scan_block(args, members_of(call), call.comm.size, first, count);
               });
  }
};

}  // namespace

constinit const Algorithm algorithm::kScanSegments{.collective = Collective::kScan,
                                                   .name = "segments",
                                                   .needs = conditions<kOneNode>,
                                                   .preferred_for = conditions<kButPairUpTo<64>>,
                                                   .forms = all_together<ScanSegments>};

}  // namespace tmpi::mpi
