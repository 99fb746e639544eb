// Gather and gatherv: a member leaves small data in its cell and goes on; a member with large data sleeps
// until the root, which waits for all, has copied it.
#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

Err gather_root(Comm& comm, Relay& relay, Relay::Slot& slot, Args& args) {
  bool fits = args.in_place || copy_chunk(args.recv.chunk(comm.rank), args.send.whole());
  relay.arrive_root(slot);
  Relay::Deposit* deposits = relay.deposits(slot);
  for (int i = 0; i < comm.size; ++i) {
    if (i == comm.rank) continue;
    const Relay::Deposit& deposit = deposits[i];
    const Chunk to = args.recv.chunk(i);
    if (deposit.args != nullptr) {
      fits &= copy_chunk(to, deposit.args->send.whole());
      deposit.waiter()->complete();
    } else {
      const bool inside = deposit.bytes <= Relay::Deposit::kInside;
      fits &= unpack_chunk(to, inside ? deposit.data : relay.cell(slot, i), deposit.bytes);
    }
  }
  relay.release(slot);
  return fits ? kOk : truncated_chunk();
}

}  // namespace

bool algorithm::gather_relay_begins(Comm& comm, const Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot* slot = relay.free_slot(comm.rooted_sequence);
  if (slot == nullptr) return false;
  return comm.rank == args.root ? relay.others_arrived(*slot)
                                : args.send.whole().bytes() <= relay.layout().cell_bytes;
}

Err algorithm::gather_relay(Comm& comm, Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.enter(comm.rooted_sequence++);
  if (comm.rank == args.root) return gather_root(comm, relay, slot, args);
  const Chunk data = args.send.whole();
  Relay::Deposit& deposit = relay.deposits(slot)[comm.rank];
  const MPI_Count bytes = data.bytes();
  if (bytes <= relay.layout().cell_bytes) {
    deposit.args = nullptr;
    deposit.bytes = bytes;
    pack_chunk(bytes <= Relay::Deposit::kInside ? deposit.data : relay.cell(slot, comm.rank), data);
    relay.arrive(slot);
    return kOk;
  }
  sched::Waiter waiter(1);
  deposit.args = &args;
  deposit.set_waiter(&waiter);
  relay.arrive(slot);
  waiter.wait();
  return kOk;
}

}  // namespace tmpi::mpi
