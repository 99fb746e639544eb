// Scatter and scatterv: as broadcast, each member copies its own chunk. Chunks of different sizes are left
// behind with a list of where each begins.
#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kLeftBehind = 16384;  // all chunks together

constexpr MPI_Count kRagged = -1;  // instead of the size of all chunks: a list of begins comes first

MPI_Count bytes_of_all(const Args& args, int members) {
  if (!args.send.counts) return args.send.whole().bytes() * members;
  MPI_Count total = static_cast<MPI_Count>(sizeof(MPI_Count)) * (members + 1);
  for (int i = 0; i < members && total <= kLeftBehind; ++i) total += args.send.chunk(i).bytes();
  return total;
}

void pack_all(std::byte* room, const Args& args, int members) {
  const Side& send = args.send;
  pack_chunk(room, {send.data, members * send.count, send.type});
}

void pack_ragged(std::byte* room, const Args& args, int members) {
  auto* begins = reinterpret_cast<MPI_Count*>(room);
  MPI_Count place = static_cast<MPI_Count>(sizeof(MPI_Count)) * (members + 1);
  for (int i = 0; i < members; ++i) {
    begins[i] = place;
    if (i == args.root) continue;
    const Chunk chunk = args.send.chunk(i);
    pack_chunk(room + place, chunk);
    place += chunk.bytes();
  }
  begins[members] = place;
}

bool unpack_mine(const Chunk& to, const Relay::Slot& slot, int rank) {
  const std::byte* packed = slot.packed.get();
  if (slot.packed_bytes != kRagged)
    return unpack_chunk(to, packed + rank * slot.packed_bytes, slot.packed_bytes);
  const auto* begins = reinterpret_cast<const MPI_Count*>(packed);
  return unpack_chunk(to, packed + begins[rank], begins[rank + 1] - begins[rank]);
}

Err scatter_root(Comm& comm, Relay& relay, Relay::Slot& slot, Args& args) {
  const bool fits = args.in_place || copy_chunk(args.recv.whole(), args.send.chunk(comm.rank));
  const MPI_Count total = bytes_of_all(args, comm.size);
  const bool leave_behind = total <= kLeftBehind;
  if (leave_behind) {
    const bool ragged = static_cast<bool>(args.send.counts);
    slot.packed_bytes = ragged ? kRagged : args.send.whole().bytes();
    (ragged ? pack_ragged : pack_all)(relay.make_room(slot, total), args, comm.size);
  } else {
    slot.args = &args;
  }
  relay.open(slot);
  relay.leave_root(slot, !leave_behind);
  return fits ? kOk : truncated_chunk();
}

}  // namespace

bool algorithm::scatter_relay_begins(Comm& comm, const Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot* slot = relay.free_slot(comm.rooted_sequence);
  if (slot == nullptr) return false;
  return comm.rank == args.root ? bytes_of_all(args, comm.size) <= kLeftBehind
                                : relay.gate_admits_guest(*slot);
}

void algorithm::end_scatter_relay(Comm& comm, Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.slot_of(comm.rooted_sequence - 1);
  const Chunk to = args.recv.whole();
  const bool fits = slot.args != nullptr ? copy_chunk(to, slot.args->send.chunk(comm.rank))
                                         : unpack_mine(to, slot, comm.rank);
  relay.leave(slot);
  if (!fits) args.error = MPI_ERR_TRUNCATE;
}

Err algorithm::scatter_relay(Comm& comm, Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.enter(comm.rooted_sequence++);
  if (comm.rank == args.root) return scatter_root(comm, relay, slot, args);
  if (!relay.pass_gate(slot, args.guest)) return kOk;
  end_scatter_relay(comm, args);
  return error_of(args);
}

}  // namespace tmpi::mpi
