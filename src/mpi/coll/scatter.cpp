// Scatter and scatterv: as broadcast, each member copies its own chunk.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kLeftBehind = 16384;  // all chunks together

// Chunks of different sizes are not left behind: members would need to know where theirs begins.
bool leaves_behind(const Args& args, int members) {
  return !args.send.counts && args.send.whole().bytes() * members <= kLeftBehind;
}

void pack_all(std::byte* room, const Args& args, int members) {
  for (int i = 0; i < members; ++i) {
    if (i == args.root) continue;
    const Chunk chunk = args.send.chunk(i);
    pack_chunk(room + i * chunk.bytes(), chunk);
  }
}

Err scatter_root(Comm& comm, Relay& relay, Relay::Slot& slot, Args& args) {
  const bool fits = args.in_place || copy_chunk(args.recv.whole(), args.send.chunk(comm.rank));
  const bool leave_behind = leaves_behind(args, comm.size);
  if (leave_behind) {
    slot.packed_bytes = args.send.whole().bytes();
    pack_all(relay.make_room(slot, slot.packed_bytes * comm.size), args, comm.size);
  } else {
    slot.args = &args;
  }
  relay.open(slot);
  relay.leave_root(slot, !leave_behind);
  return fits ? kOk : truncated_chunk();
}

}  // namespace

Err algorithm::scatter_relay(Comm& comm, Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.enter(comm.rooted_sequence++);
  if (comm.rank == args.root) return scatter_root(comm, relay, slot, args);
  relay.pass_gate(slot);
  const Chunk to = args.recv.whole();
  const std::byte* packed = slot.packed.get() + comm.rank * slot.packed_bytes;
  const bool fits = slot.args != nullptr ? copy_chunk(to, slot.args->send.chunk(comm.rank))
                                         : unpack_chunk(to, packed, slot.packed_bytes);
  relay.leave(slot);
  return fits ? kOk : truncated_chunk();
}

}  // namespace tmpi::mpi
