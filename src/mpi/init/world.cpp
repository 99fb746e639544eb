#include "mpi/init/world.hpp"

#include <mutex>
#include <utility>

#include "mpi/base/errhandler.hpp"
#include "mpi/create/spawn.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

std::shared_ptr<CommShared> shared_of(World& world) {
  std::scoped_lock lock(world.mutex);
  std::shared_ptr<CommShared> shared = world.shared.lock();
  if (shared == nullptr)
    world.shared = shared = make_comm_shared(world.context, Group::range(world.first, world.size));
  return shared;
}

void fill(Comm& comm, Rank& rank, MPI_Comm handle, const char* name, std::shared_ptr<CommShared> shared) {
  comm.rank = shared->group->rank_of(rank.world_rank);
  comm.size = shared->group->size();
  comm.peers = comm.size;
  comm.context = shared->context;
  comm.owner = &rank;
  comm.shared = std::move(shared);
  comm.name = name;
  comm.handle = handle;
}

}  // namespace

void init_world(Rank& rank) {
  fill(rank.world, rank, MPI_COMM_WORLD, "MPI_COMM_WORLD", shared_of(*rank.started_with));
  fill(rank.self, rank, MPI_COMM_SELF, "MPI_COMM_SELF",
       make_comm_shared(kSelfContext, Group::range(rank.world_rank, 1)));
  rank.parent = take_parent(rank);
}

void finish_world(Rank& rank) noexcept {
  if (Comm* const parent = std::exchange(rank.parent, nullptr)) release(*parent);
  for (Comm* comm : {&rank.world, &rank.self}) {
    release(std::exchange(comm->errhandler, nullptr));
    comm->topology = nullptr;
    comm->shadows = nullptr;
    comm->hierarchy = nullptr;
    comm->shared = nullptr;
  }
}

}  // namespace tmpi::mpi
