#include "mpi/p2p/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/p2p/cell.hpp"

namespace tmpi::mpi {
namespace {

MPI_Count record_outcome(Request& receive, const MatchKey& key, MPI_Count bytes) noexcept {
  const MPI_Count capacity = receive.count * receive.type->size();
  receive.source = key.source;
  receive.received_tag = key.tag;
  receive.bytes = std::min(bytes, capacity);
  receive.error = bytes > capacity ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  return receive.bytes;
}

}  // namespace

void deliver(Request& receive, const MatchKey& key, const Outgoing& data) noexcept {
  const MPI_Count bytes = record_outcome(receive, key, data.bytes);
  if (data.type.contiguous() && receive.type->contiguous()) {
    std::memcpy(receive.buffer, data.buffer, static_cast<std::size_t>(bytes));
  } else {
    (void)copy_typed(receive.buffer, receive.count, *receive.type, data.buffer, data.count, data.type);
  }
  receive.complete();
}

void accept(Request& receive, Message& message) noexcept {
  const MPI_Count bytes = record_outcome(receive, message.key, message.bytes);
  if (Request* sender = message.sender) {
    if (sender->type->contiguous() && receive.type->contiguous()) {
      std::memcpy(receive.buffer, sender->buffer, static_cast<std::size_t>(bytes));
    } else {
      (void)copy_typed(receive.buffer, receive.count, *receive.type, sender->buffer, sender->count,
                       *sender->type);
    }
    sender->complete();  // the message lies in the sender's request: both may be gone now
    return;
  }
  if (receive.type->contiguous()) {
    std::memcpy(receive.buffer, message.payload, static_cast<std::size_t>(bytes));
  } else {
    unpack_segment(receive.buffer, receive.count, *receive.type, message.payload, 0, bytes);
  }
  give_back_cell(&message);
}

}  // namespace tmpi::mpi
