#include "mpi/shm/meeting.hpp"

namespace tmpi::mpi {

Meeting::Meeting(const LaneLayout& layout)
    : layout_(layout), lanes_(std::make_unique<Lane[]>(layout.expected.size())) {
  for (std::size_t i = 0; i < layout.expected.size(); ++i) lanes_[i].expected = layout.expected[i];
}

}  // namespace tmpi::mpi
