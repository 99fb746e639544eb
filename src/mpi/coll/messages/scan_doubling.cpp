// Scan and exscan by recursive doubling: partners 1, 2, 4 ... ranks apart exchange what their blocks of ranks
// combine to; what comes from a lower block belongs to the result. log n steps.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// Calls from_below(incoming vector) for each block of ranks below mine, the nearest first.
template <class FromBelow>
Err scan_blocks(Comm& comm, const Args& args, FromBelow&& from_below) {
  Messages messages(comm, args);
  Accumulator block(args, args.recv.count, nullptr);  // of all ranks that share mine's higher bits
  for (int distance = 1; distance < comm.size; distance *= 2) {
    const int partner = comm.rank ^ distance;
    // A block at the end may be cut off: its partner would be beyond the end, and nobody above wants its sum.
    if (partner >= comm.size) continue;
    messages.exchange(block.value(), partner, block.incoming(), partner);
    if (partner < comm.rank) {
      from_below(static_cast<const std::byte*>(block.incoming().data));
      block.fold_lower();
    } else {
      block.fold_upper();
    }
  }
  return messages.result();
}

Err scan_doubling(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count;
  ElementBuffer result(type, count);
  copy_elements(result.data(), args.input(), 0, count, type);
  const Err error = scan_blocks(
      comm, args, [&](const std::byte* below) { reduce_local(*args.op, below, result.data(), count, type); });
  copy_elements(static_cast<std::byte*>(args.recv.data), result.data(), 0, count, type);
  return error;
}

Err exscan_doubling(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count;
  ElementBuffer result(type, count);
  bool any = false;
  const Err error = scan_blocks(comm, args, [&](const std::byte* below) {
    any ? reduce_local(*args.op, below, result.data(), count, type)
        : copy_elements(result.data(), below, 0, count, type);
    any = true;
  });
  if (any) copy_elements(static_cast<std::byte*>(args.recv.data), result.data(), 0, count, type);
  return error;
}

}  // namespace

constinit const Algorithm algorithm::kScanDoubling{
    .collective = Collective::kScan, .name = "recursive_doubling", .forms = {.run = scan_doubling}};

constinit const Algorithm algorithm::kExscanDoubling{
    .collective = Collective::kExscan, .name = "recursive_doubling", .forms = {.run = exscan_doubling}};

}  // namespace tmpi::mpi
