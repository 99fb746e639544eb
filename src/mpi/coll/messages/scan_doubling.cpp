// Scan and exscan by recursive doubling: partners 1, 2, 4 ... ranks apart exchange what their blocks of ranks
// combine to; what comes from a lower block belongs to the result. log n steps. Among more than two members, what
// nobody above needs is not sent down: in the last step nothing is.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// Whether a later step hands on what the ranks that share `rank`'s bits from 2 * `distance` up combine to: to the first
// member of an upper block, by way of lower members of lower blocks.
bool is_handed_on(int rank, int distance, int size) {
  for (int later = 2 * distance; later < size; later *= 2) {
    const int from = rank & ~(later - 2 * distance);
    if ((rank & later) == 0 && from + later < size) return true;
  }
  return false;
}

// Calls from_below(incoming vector) for each block of ranks below mine, the nearest first. The input has been copied by
// then, which may be where the result belongs.
template <class FromBelow>
Err scan_blocks(Comm& comm, const Args& args, FromBelow&& from_below) {
  Messages messages(comm, args);
  Accumulator block(args, args.recv.count, nullptr);  // of all ranks that share mine's higher bits
  for (int distance = 1; distance < comm.size; distance *= 2) {
    const int partner = comm.rank ^ distance;
    // A block at the end may be cut off: its partner would be beyond the end, and nobody above wants its sum.
    if (partner >= comm.size) continue;
    // Of two members neither goes on without the other: it might have called something else, and nobody could say so.
    const bool downwards = comm.size == 2 || is_handed_on(std::min(comm.rank, partner), distance, comm.size);
    if (downwards) {
      messages.exchange(block.value(), partner, block.incoming(), partner);
    } else if (partner < comm.rank) {
      messages.recv(block.incoming(), partner);
    } else {
      messages.send(block.value(), partner);
    }
    if (partner < comm.rank) from_below(static_cast<const std::byte*>(block.incoming().data));
    if (!is_handed_on(comm.rank, distance, comm.size)) continue;
    partner < comm.rank ? block.fold_lower() : block.fold_upper();
  }
  return messages.result();
}

Err scan_doubling(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count;
  auto* const result = static_cast<std::byte*>(args.recv.data);
  if (!args.in_place) copy_elements(result, args.input(), 0, count, type);
  return scan_blocks(comm, args,
                     [&](const std::byte* below) { reduce_local(*args.op, below, result, count, type); });
}

Err exscan_doubling(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count;
  auto* const result = static_cast<std::byte*>(args.recv.data);
  bool any = false;
  return scan_blocks(comm, args, [&](const std::byte* below) {
    any ? reduce_local(*args.op, below, result, count, type) : copy_elements(result, below, 0, count, type);
    any = true;
  });
}

}  // namespace

constinit const Algorithm algorithm::kScanDoubling{
    .collective = Collective::kScan, .name = "recursive_doubling", .forms = {.run = scan_doubling}};

constinit const Algorithm algorithm::kExscanDoubling{
    .collective = Collective::kExscan, .name = "recursive_doubling", .forms = {.run = exscan_doubling}};

}  // namespace tmpi::mpi
