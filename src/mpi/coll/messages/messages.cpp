#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

void Messages::send(const Chunk& data, int dest) {
  // Inside a node a send cannot fail; one between nodes that does ends the job.
  (void)mpi::send(comm_, context(), data.data, data.count, *data.type, dest, tag_);
}

void Messages::recv(const Chunk& room, int source) {
  MPI_Status* const none = MPI_STATUS_IGNORE;
  if (mpi::recv(comm_, context(), room.data, room.count, *room.type, source, tag_, none)) fits_ = false;
}

void Messages::exchange(const Chunk& data, int dest, const Chunk& room, int source) {
  if (sendrecv(comm_, context(), data.data, data.count, *data.type, dest, tag_, room.data, room.count,
               *room.type, source, tag_, MPI_STATUS_IGNORE))
    fits_ = false;
}

MessageBatch::MessageBatch(Messages& messages, int most)
    : messages_(messages),
      requests_(std::make_unique<Request[]>(static_cast<std::size_t>(most))),
      pending_(std::make_unique<Request*[]>(static_cast<std::size_t>(most))) {}

Request& MessageBatch::next(RequestKind kind, const Chunk& chunk, int peer) {
  Request& request = requests_[static_cast<std::size_t>(count_)];
  pending_[static_cast<std::size_t>(count_++)] = &request;
  request.kind = kind;
  request.buffer = chunk.data;
  request.count = chunk.count;
  request.type = chunk.type;
  request.peer = peer;
  request.tag = messages_.tag_;
  request.comm = &messages_.comm_;
  request.context = messages_.context();
  return request;
}

void MessageBatch::send(const Chunk& data, int dest) {
  if (dest != MPI_PROC_NULL) start_send(next(RequestKind::kSend, data, dest));
}

void MessageBatch::recv(const Chunk& room, int source) {
  if (source != MPI_PROC_NULL) start_recv(next(RequestKind::kRecv, room, source));
}

void MessageBatch::wait() {
  wait_all(pending_.get(), count_);
  for (int i = 0; i < count_; ++i) {
    if (requests_[static_cast<std::size_t>(i)].error != MPI_SUCCESS) messages_.fits_ = false;
  }
}

PackedChunk::PackedChunk(const Chunk& chunk) : chunk_(chunk), data_(static_cast<std::byte*>(chunk.data)) {
  if (chunk.type->contiguous()) return;
  copy_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(chunk.bytes()));
  data_ = copy_.get();
}

void PackedChunk::load() {
  if (copy_ != nullptr) pack_chunk(data_, chunk_);
}

void PackedChunk::store() {
  if (copy_ != nullptr) (void)unpack_chunk(chunk_, data_, chunk_.bytes());
}

}  // namespace tmpi::mpi
