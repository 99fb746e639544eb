// Broadcast: the root leaves small data in the relay and goes on; from large data the members copy straight
// out of its buffer.
#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kLeftBehind = 4096;  // the root copies once more, but does not wait

Err bcast_root(Relay& relay, Relay::Slot& slot, Args& args) {
  const Chunk data = args.recv.whole();
  const MPI_Count bytes = data.bytes();
  const bool leave_behind = bytes <= kLeftBehind;
  if (leave_behind) {
    pack_chunk(relay.make_room(slot, bytes), data);
  } else {
    slot.args = &args;
  }
  slot.packed_bytes = bytes;
  relay.open(slot);
  relay.leave_root(slot, !leave_behind);
  return kOk;
}

}  // namespace

bool algorithm::bcast_relay_begins(Comm& comm, const Args& args) {
  if (comm.size == 1) return true;
  Relay& relay = relay_of(comm);
  Relay::Slot* slot = relay.free_slot(comm.rooted_sequence);
  if (slot == nullptr) return false;
  return comm.rank == args.root ? args.recv.whole().bytes() <= kLeftBehind : relay.gate_admits_guest(*slot);
}

void algorithm::end_bcast_relay(Comm& comm, Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.slot_of(comm.rooted_sequence - 1);
  const Chunk to = args.recv.whole();
  const bool fits = slot.args != nullptr ? copy_chunk(to, slot.args->recv.whole())
                                         : unpack_chunk(to, slot.packed.get(), slot.packed_bytes);
  relay.leave(slot);
  if (!fits) args.error = MPI_ERR_TRUNCATE;
}

Err algorithm::bcast_relay(Comm& comm, Args& args) {
  if (comm.size == 1) return kOk;
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.enter(comm.rooted_sequence++);
  if (comm.rank == args.root) return bcast_root(relay, slot, args);
  if (!relay.pass_gate(slot, args.guest)) return kOk;
  end_bcast_relay(comm, args);
  return error_of(args);
}

}  // namespace tmpi::mpi
