// Scan and exscan by recursive doubling: partners 1, 2, 4 ... ranks apart exchange what their blocks of ranks
// combine to; what comes from a lower block belongs to the result. log n steps. What nobody above needs is not
// sent down: in the last step nothing is.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Calls from_below(incoming vector) for each block of ranks below mine, the nearest first. The input has been copied by
// then, which may be where the result belongs.
template <class FromBelow>
Err scan_blocks(Comm& comm, const Args& args, FromBelow&& from_below) {
  Messages messages(comm, args);
  Accumulator block(args, args.recv.count, nullptr);  // of all ranks that share mine's higher bits
  // Of two members on a node neither goes on without the other: it might have called something else, and nobody could
  // say so (conditions.hpp).
  const bool pair = comm.size == 2 && barrier_of(comm).groups().nodes == 1;
  for (int distance = 1; distance < comm.size; distance *= 2) {
    const int partner = comm.rank ^ distance;
    // A block at the end may be cut off: its partner would be beyond the end, and nobody above wants its sum.
    if (partner >= comm.size) continue;
    // Whether somebody above wants what `rank` has after this step: its counterpart in the next block, which gets it in a
    // later step, from it or by way of lower ranks.
    const auto wanted = [&](int rank) { return rank + 2 * distance < comm.size; };
    const bool downwards = pair || wanted(std::min(comm.rank, partner));
    if (downwards) {
      messages.exchange(block.value(), partner, block.incoming(), partner);
    } else if (partner < comm.rank) {
      messages.recv(block.incoming(), partner);
    } else {
      messages.send(block.value(), partner);
    }
    if (partner < comm.rank) from_below(static_cast<const std::byte*>(block.incoming().data));
    if (!wanted(comm.rank)) continue;
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
