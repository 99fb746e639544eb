#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

bool algorithm::meeting_begins(Comm& comm, const Args&) {
  return meeting_of(comm).admits_guest();
}

void algorithm::end_nothing(Comm&, Args&) {}

}  // namespace tmpi::mpi
