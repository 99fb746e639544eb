// Gather and gatherv: a member leaves small data in its cell and goes on; a member with large data sleeps
// until the root, which waits for all, has copied it.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct GatherRing {
  static void own(Call& call, SlotRing&, SlotRing::Slot&) {
    Args& args = call.args;
    if (!args.in_place && !copy_chunk(args.recv.chunk(call.comm.rank), args.send.whole()))
      args.error = MPI_ERR_TRUNCATE;
  }
  static MPI_Count bytes(const Call& call) { return call.args.send.whole().bytes(); }
  static MPI_Count limit(const SlotRing& ring) { return ring.groups().cell_bytes; }

  static void leave(Call& call, SlotRing& ring, SlotRing::Slot& slot, MPI_Count bytes) {
    SlotRing::Deposit& deposit = ring.deposits(slot)[call.comm.rank];
    deposit.record = nullptr;
    deposit.bytes = bytes;
    pack_chunk(bytes <= SlotRing::Deposit::kInside ? deposit.data : ring.cell(slot, call.comm.rank),
               call.args.send.whole());
  }

  static void take(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    bool fit = true;
    const SlotRing::Deposit* deposits = ring.deposits(slot);
    for (int i = 0; i < call.comm.size; ++i) {
      if (i == call.comm.rank) continue;
      const SlotRing::Deposit& deposit = deposits[i];
      const Chunk to = call.args.recv.chunk(i);
      if (deposit.record != nullptr) {
        fit &= copy_chunk(to, static_cast<const Args*>(deposit.record)->send.whole());
        deposit.waiter()->complete();
      } else {
        const bool inside = deposit.bytes <= SlotRing::Deposit::kInside;
        fit &= unpack_chunk(to, inside ? deposit.data : ring.cell(slot, i), deposit.bytes);
      }
    }
    if (!fit) call.args.error = MPI_ERR_TRUNCATE;
  }
};

}  // namespace

constinit const Algorithm algorithm::kGatherRing{.collective = Collective::kGather,
                                                 .name = "slot_ring",
                                                 .needs = conditions<kOneNode>,
                                                 .forms = to_root<GatherRing>};

}  // namespace tmpi::mpi
