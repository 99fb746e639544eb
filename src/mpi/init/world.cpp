#include "mpi/init/world.hpp"

#include <mutex>
#include <utility>

#include "mpi/base/errhandler.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Made by the first rank that comes, gone with the last: a process may run one job after another (unit tests
// do).
std::shared_ptr<CommShared> world_shared() {
  static std::mutex mutex;
  static std::weak_ptr<CommShared> world;
  std::scoped_lock lock(mutex);
  std::shared_ptr<CommShared> shared = world.lock();
  if (shared == nullptr) world = shared = make_comm_shared(kWorldContext, Group::range(0, job()->size()));
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
  fill(rank.world, rank, MPI_COMM_WORLD, "MPI_COMM_WORLD", world_shared());
  fill(rank.self, rank, MPI_COMM_SELF, "MPI_COMM_SELF",
       make_comm_shared(kSelfContext, Group::range(rank.world_rank, 1)));
}

void finish_world(Rank& rank) noexcept {
  for (Comm* comm : {&rank.world, &rank.self}) {
    release(std::exchange(comm->errhandler, nullptr));
    comm->topology = nullptr;
    comm->shadows = nullptr;
    comm->hierarchy = nullptr;
    comm->shared = nullptr;
  }
}

}  // namespace tmpi::mpi
