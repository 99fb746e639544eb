// Barrier: the shared-memory barrier itself. Budget: 60 to 100 ns per member, two switches included; one
// atomic per worker group.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct BarrierShared {};

}  // namespace

constinit const Algorithm algorithm::kBarrierShared{.collective = Collective::kBarrier,
                                                    .name = "shared_barrier",
                                                    .needs = conditions<kOneNode>,
                                                    .preferred_for = conditions<kButPair>,
                                                    .forms = all_together<BarrierShared>};

}  // namespace tmpi::mpi
