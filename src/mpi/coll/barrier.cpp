// Barrier: the meeting itself. Budget: 60 to 100 ns per member, two switches included; one atomic per lane.
#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

Err algorithm::barrier_meeting(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  ++comm.coll_sequence;
  meeting.meet([] {}, args.guest);
  return kOk;
}

}  // namespace tmpi::mpi
