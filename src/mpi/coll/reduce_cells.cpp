// Reduce of small vectors: a member leaves its vector in a cell and goes on; the root waits for all and folds
// the cells.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

bool algorithm::reduce_cells_begins(Comm& comm, const Args& args) {
  Relay& relay = relay_of(comm);
  Relay::Slot* slot = relay.free_slot(comm.rooted_sequence);
  return slot != nullptr && (comm.rank != args.root || relay.others_arrived(*slot));
}

Err algorithm::reduce_cells(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count, bytes = dense_bytes(type, count);
  Relay& relay = relay_of(comm);
  Relay::Slot& slot = relay.enter(comm.rooted_sequence++);
  std::byte* cells = relay.cells(slot);
  copy_bytes(cells + comm.rank * bytes, args.input(), bytes);
  if (comm.rank != args.root) {
    relay.arrive(slot);
    return kOk;
  }
  relay.arrive_root(slot);
  const std::byte* result = fold_cells(*args.op, type, count, cells, comm.size);
  copy_elements(static_cast<std::byte*>(args.recv.data), result, 0, count, type);
  relay.release(slot);
  return kOk;
}

}  // namespace tmpi::mpi
