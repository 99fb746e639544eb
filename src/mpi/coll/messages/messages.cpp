#include "mpi/coll/messages/messages.hpp"

#include "mpi/base/no_memory.hpp"
#include "mpi/base/status.hpp"

namespace tmpi::mpi {
namespace {

// A message that has not been sent: the other members wait for it, and cannot be told.
// A message of ours that is too long is an error of the program's arguments; what else there is, is a message not sent.
void expect_sent(int error_class) noexcept {
  if (error_class != MPI_SUCCESS && error_class != MPI_ERR_TRUNCATE)
    end_for_no_memory("a message of a collective operation");
}

}  // namespace

void Messages::send(const Chunk& data, int dest) {
  const Err sent = mpi::send(comm_, context(), data.data, data.count, *data.type, dest, tag_);
  expect_sent(sent.error_class());
}

void Messages::recv(const Chunk& room, int source) {
  MPI_Status status;
  const Err done = mpi::recv(comm_, context(), room.data, room.count, *room.type, source, tag_, &status);
  if (done || status_bytes(status) != room.bytes()) fits_ = false;
}

void Messages::exchange(const Chunk& data, int dest, const Chunk& room, int source) {
  MPI_Status status;
  const Err done = sendrecv(comm_, context(), data.data, data.count, *data.type, dest, tag_, room.data,
                            room.count, *room.type, source, tag_, &status);
  expect_sent(done.error_class());
  if (done || status_bytes(status) != room.bytes()) fits_ = false;
}

MessageBatch::MessageBatch(Messages& messages, int most) : messages_(messages) {
  static_assert(alignof(Request) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  if (most <= kFew) return;
  many_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most) * sizeof(Request));
  many_pending_ = std::make_unique_for_overwrite<Request*[]>(static_cast<std::size_t>(most));
  requests_ = reinterpret_cast<Request*>(many_.get());
  pending_ = many_pending_.get();
}

Request& MessageBatch::next(RequestKind kind, const Chunk& chunk, int peer) {
  Request& request = *new (&requests_[count_]) Request;
  pending_[count_++] = &request;
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
  if (dest == MPI_PROC_NULL) return;
  Request& request = next(RequestKind::kSend, data, dest);
  start_send(request);
  // Not only when all are done: those who wait for this one may be those whom we wait for.
  if (request.done()) expect_sent(request.error);
}

void MessageBatch::recv(const Chunk& room, int source) {
  if (source != MPI_PROC_NULL) start_recv(next(RequestKind::kRecv, room, source));
}

void MessageBatch::wait() {
  wait_all(pending_, count_);
  for (int i = 0; i < count_; ++i) {
    const Request& request = *pending_[i];
    expect_sent(request.error);
    const bool whole =
        request.kind == RequestKind::kSend || request.bytes == request.count * request.type->size();
    if (request.error != MPI_SUCCESS || !whole) messages_.fits_ = false;
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
