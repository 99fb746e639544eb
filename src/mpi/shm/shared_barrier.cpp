#include "mpi/shm/shared_barrier.hpp"

namespace tmpi::mpi {

SharedBarrier::SharedBarrier(const WorkerGroups& groups)
    : groups_(groups), members_(std::make_unique<Group[]>(groups.sizes.size())) {
  for (std::size_t i = 0; i < groups.sizes.size(); ++i) members_[i].arrivals.expected = groups.sizes[i];
}

}  // namespace tmpi::mpi
