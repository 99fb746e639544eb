// Scatter and scatterv: as broadcast, each member copies its own chunk. Chunks of different sizes are left
// behind with a list of where each begins.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

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

// Chunks first to last - 1, where those of a regular scatter lie in the room.
void pack_some(std::byte* room, const Side& send, int first, int last) {
  const Chunk begin = send.chunk(first);
  pack_chunk(room + first * begin.bytes(), {begin.data, (last - first) * begin.count, begin.type});
}

// The root's own is not left there.
void pack_all(std::byte* room, const Args& args, int members) {
  pack_some(room, args.send, 0, args.root);
  pack_some(room, args.send, args.root + 1, members);
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

bool unpack_mine(const Chunk& to, const SlotRing::Slot& slot, int rank) {
  const std::byte* packed = slot.packed.get();
  if (slot.packed_bytes != kRagged)
    return unpack_chunk(to, packed + rank * slot.packed_bytes, slot.packed_bytes);
  const auto* begins = reinterpret_cast<const MPI_Count*>(packed);
  return unpack_chunk(to, packed + begins[rank], begins[rank + 1] - begins[rank]);
}

struct ScatterRing {
  static void own(Call& call, SlotRing&, SlotRing::Slot&) {
    Args& args = call.args;
    if (!args.in_place && !copy_chunk(args.recv.whole(), args.send.chunk(call.comm.rank)))
      args.error = MPI_ERR_TRUNCATE;
  }
  static MPI_Count bytes(const Call& call) { return bytes_of_all(call.args, call.comm.size); }
  static MPI_Count limit(const SlotRing&) { return kLeftBehind; }

  static void leave(Call& call, SlotRing& ring, SlotRing::Slot& slot, MPI_Count bytes) {
    const Side& send = call.args.send;
    const bool ragged = static_cast<bool>(send.counts);
    slot.packed_bytes = ragged ? kRagged : send.whole().bytes();
    (ragged ? pack_ragged : pack_all)(ring.make_room(slot, bytes), call.args, call.comm.size);
  }

  static void take(Call& call, SlotRing&, SlotRing::Slot& slot) {
    const Chunk to = call.args.recv.whole();
    const auto* root = static_cast<const Args*>(slot.record);
    const bool fits = root != nullptr ? copy_chunk(to, root->send.chunk(call.comm.rank))
                                      : unpack_mine(to, slot, call.comm.rank);
    if (!fits) call.args.error = MPI_ERR_TRUNCATE;
  }
};

}  // namespace

constinit const Algorithm algorithm::kScatterRing{.collective = Collective::kScatter,
                                                  .name = "slot_ring",
                                                  .needs = conditions<kOneNode>,
                                                  .forms = from_root<ScatterRing>};

}  // namespace tmpi::mpi
