// Broadcast: the root leaves small data in the slot and goes on; from large data the members copy straight
// out of its buffer.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct BcastRing {
  static bool empty(const Comm& comm, const Args&) { return comm.size == 1; }
  static MPI_Count bytes(const Call& call) { return call.args.recv.whole().bytes(); }
  // The root copies once more, but does not wait.
  static MPI_Count limit(const SlotRing&) { return 4096; }

  static void leave(Call& call, SlotRing& ring, SlotRing::Slot& slot, MPI_Count bytes) {
    pack_chunk(ring.make_room(slot, bytes), call.args.recv.whole());
    slot.packed_bytes = bytes;
  }

  static void take(Call& call, SlotRing&, SlotRing::Slot& slot) {
    const Chunk to = call.args.recv.whole();
    const auto* root = static_cast<const Args*>(slot.record);
    const bool fits = root != nullptr ? copy_chunk(to, root->recv.whole())
                                      : unpack_chunk(to, slot.packed.get(), slot.packed_bytes);
    if (!fits) call.args.error = MPI_ERR_TRUNCATE;
  }
};

}  // namespace

constinit const Algorithm algorithm::kBcastRing{.collective = Collective::kBcast,
                                                .name = "slot_ring",
                                                .needs = conditions<kOneNode>,
                                                .forms = from_root<BcastRing>};

}  // namespace tmpi::mpi
