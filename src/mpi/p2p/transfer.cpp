#include "mpi/p2p/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/observer.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/p2p/shared_copy.hpp"

namespace tmpi::mpi {
namespace {

[[gnu::always_inline]] inline MPI_Count record_outcome(Request& receive, const MatchKey& key,
                                                       MPI_Count bytes) noexcept {
  tell_received(*receive.comm->owner, key, bytes);
  if (receive.expected) [[unlikely]]
    remote_calls()->no_longer_expected(receive);
  const MPI_Count capacity = receive.count * receive.type->size();
  receive.source = key.source;
  receive.received_tag = key.tag;
  receive.bytes = std::min(bytes, capacity);
  receive.error = bytes > capacity ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  return receive.bytes;
}

// Copies from there on take longer than it takes to fetch a few lines.
constexpr MPI_Count kWorthFetching = 2048;

// Whoever waits for the request, on another core, is woken after the copy: what that writes is fetched meanwhile.
inline void fetch_completion(const Request& request, MPI_Count bytes) noexcept {
  if (bytes < kWorthFetching) return;
  request.prepare_completion();
  if (request.comm != nullptr) fetch_for_writing(&request.comm->owner->task->next);
}

}  // namespace

void deliver(Request& receive, const MatchKey& key, const Outgoing& data, bool here) noexcept {
  const MPI_Count bytes = record_outcome(receive, key, data.bytes);
  if (!here) fetch_completion(receive, bytes);
  if (data.type.contiguous() && receive.type->contiguous()) [[likely]] {
    copy_together(receive.buffer, data.buffer, bytes, here ? nullptr : receive.comm->owner);
  } else {
    (void)copy_typed(receive.buffer, receive.count, *receive.type, data.buffer, data.count, data.type);
  }
  if (here) return receive.complete_here();
  receive.complete();
}

void pack(void* packed, const Outgoing& data) noexcept {
  if (data.bytes == 0) return;
  if (data.type.contiguous()) {
    std::memcpy(packed, data.buffer, static_cast<std::size_t>(data.bytes));
  } else {
    pack_segment(packed, data.buffer, data.count, data.type, 0, data.bytes);
  }
}

void receive_packed(Request& receive, const MatchKey& key, const void* packed, MPI_Count size) noexcept {
  const MPI_Count bytes = record_outcome(receive, key, size);
  if (bytes == 0) return;
  if (receive.type->contiguous()) {
    std::memcpy(receive.buffer, packed, static_cast<std::size_t>(bytes));
  } else {
    unpack_segment(receive.buffer, receive.count, *receive.type, packed, 0, bytes);
  }
}

MPI_Count note_outcome(Request& receive, const MatchKey& key, MPI_Count bytes) noexcept {
  return record_outcome(receive, key, bytes);
}

bool accept(Request& receive, Message& message) noexcept {
  if (message.place != MessagePlace::kHere) [[unlikely]]
    return remote_calls()->accept(receive, message);
  Request* sender = message.sender;
  if (sender == nullptr) {
    receive_packed(receive, message.key, message.payload, message.bytes);
    give_back_cell(&message);
    return true;
  }
  const MPI_Count bytes = record_outcome(receive, message.key, message.bytes);
  fetch_completion(*sender, bytes);
  if (sender->type->contiguous() && receive.type->contiguous()) {
    copy_together(receive.buffer, sender->buffer, bytes, process(*receive.comm, message.key.source));
  } else {
    (void)copy_typed(receive.buffer, receive.count, *receive.type, sender->buffer, sender->count,
                     *sender->type);
  }
  sender->complete();  // the message lies in the sender's request: both may be gone now
  return true;
}

}  // namespace tmpi::mpi
