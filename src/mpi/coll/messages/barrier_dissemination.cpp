// Barrier by dissemination: in round k each member tells the one 2^k ranks above it that it has come; after
// log n rounds everybody has heard of everybody.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err barrier_dissemination(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size;
  for (int distance = 1; distance < n; distance *= 2) {
    messages.exchange(no_data(), (comm.rank + distance) % n, no_data(), (comm.rank - distance + n) % n);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kBarrierDissemination{
    .collective = Collective::kBarrier, .name = "dissemination", .forms = {.run = barrier_dissemination}};

}  // namespace tmpi::mpi
