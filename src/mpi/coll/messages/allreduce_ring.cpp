// Allreduce round a ring: each of n pieces of the vector goes round once and is combined with every member's
// on its way, then goes round again as the result. Least data per link; 2 (n - 1) steps; for very large
// vectors and operators that commute, since a piece begins at its own place of the ring.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err allreduce_ring(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  Accumulator accumulator(args, args.recv.count, args.recv.data);
  const int n = comm.size, me = comm.rank, above = (me + 1) % n, below = (me - 1 + n) % n;
  const auto piece = [&](int i) { return share_of(args.recv.count, (i + 2 * n) % n, n); };
  for (int step = 0; step < n - 1; ++step) {
    const Share out = piece(me - step), in = piece(me - step - 1);
    messages.exchange(accumulator.value(out.first, out.last - out.first), above,
                      accumulator.incoming(in.first, in.last - in.first), below);
    accumulator.fold_lower(in.first, in.last - in.first);
  }
  for (int step = 0; step < n - 1; ++step) {
    const Share out = piece(me + 1 - step), in = piece(me - step);
    messages.exchange(accumulator.value(out.first, out.last - out.first), above,
                      accumulator.value(in.first, in.last - in.first), below);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceRing{.collective = Collective::kAllreduce,
                                                    .name = "ring",
                                                    .needs = conditions<kCommutes>,
                                                    .preferred_for = conditions<kFrom<4096 * kKiB>>,
                                                    .forms = {.run = allreduce_ring}};

}  // namespace tmpi::mpi
