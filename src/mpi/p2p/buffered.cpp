#include "mpi/p2p/buffered.hpp"

#include <algorithm>
#include <cstdlib>

#include "mpi/core/rank.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {

SendBuffer::~SendBuffer() {
  drain();
}

void SendBuffer::dispose(Segment& segment) noexcept {
  segment.request->comm->owner->requests.give_back(*segment.request);
  if (automatic()) std::free(segment.data);
}

void SendBuffer::reclaim() noexcept {
  auto gone = [this](Segment& segment) {
    if (!segment.request->done()) return false;
    dispose(segment);
    return true;
  };
  segments_.erase(std::remove_if(segments_.begin(), segments_.end(), gone), segments_.end());
}

// First fit. MPI_BSEND_OVERHEAD is what a user adds per message for our bookkeeping; we keep that elsewhere,
// so a message takes its packed size and a program that computes its buffer by the standard's formula always
// has room.
std::byte* SendBuffer::place(MPI_Count length, std::size_t& position) noexcept {
  if (automatic()) {
    position = segments_.size();
    return static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(std::max<MPI_Count>(length, 1))));
  }
  std::byte* at = static_cast<std::byte*>(base_);
  std::byte* end = at + size_;
  for (position = 0; position < segments_.size(); ++position) {
    if (segments_[position].data - at >= length) return at;
    at = segments_[position].data + segments_[position].length;
  }
  return end - at >= length ? at : nullptr;
}

Err SendBuffer::send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& type, int dest,
                     int tag) {
  reclaim();
  const MPI_Count length = count * type.size();
  std::size_t position = 0;
  std::byte* data = place(length, position);
  if (data == nullptr) {
    return fail(MPI_ERR_BUFFER,
                "no room for a message of {} bytes: {} bytes are attached and {} earlier messages still lie "
                "in them. Attach more with "
                "MPI_Buffer_attach (MPI_Pack_size + MPI_BSEND_OVERHEAD for each message in flight)",
                length, size_, segments_.size());
  }
  pack_segment(data, buffer, count, type, 0, length);
  Request& request = comm.owner->requests.take();
  request.kind = RequestKind::kSend;
  request.buffer = data;
  request.count = length;
  request.type = datatype_from(MPI_BYTE);
  request.peer = dest;
  request.tag = tag;
  request.comm = &comm;
  request.context = comm.context;
  ++comm.references;
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(position),
                   Segment{data, length, &request});
  start_send(request);
  return kOk;
}

void SendBuffer::drain() noexcept {
  for (Segment& segment : segments_) {
    wait(*segment.request);
    dispose(segment);
  }
  segments_.clear();
}

}  // namespace tmpi::mpi
