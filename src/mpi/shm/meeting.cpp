#include "mpi/shm/meeting.hpp"

#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

Meeting::Meeting(const LaneLayout& layout)
    : layout_(layout), lanes_(std::make_unique<Lane[]>(layout.expected.size())) {
  for (std::size_t i = 0; i < layout.expected.size(); ++i) lanes_[i].expected = layout.expected[i];
}

bool algorithm::meeting_begins(Comm& comm, const Args&) {
  return meeting_of(comm).admits_guest();
}

void algorithm::end_nothing(Comm&, Args&) {}

}  // namespace tmpi::mpi
