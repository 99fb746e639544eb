// Allreduce by recursive doubling: partners 1, 2, 4 ... positions apart exchange and combine whole vectors.
// log n steps; for small vectors.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err allreduce_doubling(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  Accumulator accumulator(args, args.recv.count, args.recv.data);
  const PowerOfTwo power(comm.rank, comm.size);
  power.enter(messages, accumulator);
  for (int distance = 1; power.position() >= 0 && distance < power.size(); distance *= 2) {
    const int partner = power.rank_at(power.position() ^ distance);
    messages.exchange(accumulator.value(), partner, accumulator.incoming(), partner);
    partner < comm.rank ? accumulator.fold_lower() : accumulator.fold_upper();
  }
  power.leave(messages, accumulator);
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceDoubling{.collective = Collective::kAllreduce,
                                                        .name = "recursive_doubling",
                                                        .preferred_for = conditions<kUpTo<2 * kKiB>>,
                                                        .forms = {.run = allreduce_doubling}};

}  // namespace tmpi::mpi
