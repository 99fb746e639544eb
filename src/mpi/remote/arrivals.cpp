#include "mpi/remote/arrivals.hpp"

#include <new>

#include "mpi/p2p/cell.hpp"

namespace tmpi::mpi::remote {
namespace {

// Before the data, whose alignment it keeps.
struct alignas(16) Front {
  Origin origin;
};

}  // namespace

Message* take_arrival(MPI_Count bytes) noexcept {
  Message* cell = take_cell(static_cast<MPI_Count>(sizeof(Front)) + bytes);
  if (cell == nullptr) return nullptr;
  Front* front = new (cell_room(cell)) Front;
  cell->payload = front + 1;
  return cell;
}

Origin& origin_of(Message& message) noexcept {
  return static_cast<Front*>(cell_room(&message))->origin;
}

void give_back_arrival(Message& message) noexcept {
  message.place = MessagePlace::kHere;
  message.payload = cell_room(&message);
  give_back_cell(&message);
}

}  // namespace tmpi::mpi::remote
