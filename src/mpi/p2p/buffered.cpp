#include "mpi/p2p/buffered.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/spinlock.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

// Counts the messages that were put into the buffer between two flushes, and the epoch before as one more.
// Ends, and deletes itself, when all of them have left and the next flush has closed it.
class SendBuffer::Epoch final : public Continuation {
 public:
  explicit Epoch(int pending) noexcept : pending_(pending) {}

  void add_message() noexcept { pending_.fetch_add(1, std::memory_order_relaxed); }

  /// No more messages; `request` is done with the epoch. Returns the next one.
  Epoch* close(Request& request) noexcept {
    Epoch* const next = new (std::nothrow) Epoch(2);  // open, and waiting for this one
    if (next == nullptr) end_for_no_memory("the list of the buffered messages to come");
    next_ = next;
    flush_ = &request;
    arrive();
    return next;
  }

  /// Deletes the last epoch, which is open, empty, and waits for no other.
  static void end(Epoch* last) noexcept {
    // Whoever ended the epoch before may still be about to count down: its last touch.
    while (last->pending_.load(std::memory_order_acquire) != 1) cpu_relax();
    delete last;
  }

 private:
  ~Epoch() = default;
  void proceed() noexcept override { arrive(); }

  // acq_rel: the last to arrive sees what close() has written.
  void arrive() noexcept {
    Epoch* epoch = this;
    while (epoch->pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Epoch* const next = epoch->next_;
      Request* const flush = epoch->flush_;
      delete epoch;
      flush->complete();
      epoch = next;
    }
  }

  std::atomic<int> pending_;  // messages on their way, 1 while open, 1 while the epoch before is not over
  Epoch* next_ = nullptr;
  Request* flush_ = nullptr;
};

SendBuffer::SendBuffer(const void* owner, void* base, MPI_Count size)
    : owner_(owner), base_(base), size_(size), open_(new Epoch(1)) {}

SendBuffer::~SendBuffer() {
  drain();
  Epoch::end(open_);
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

Err SendBuffer::send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
                     std::uint64_t& serial) {
  reclaim();
  const MPI_Count length = count * type.size();
  std::size_t position = 0;
  if (segments_.size() == segments_.capacity())  // what needs memory comes first
    segments_.reserve(std::max<std::size_t>(8, 2 * segments_.size()));
  Request& request = comm.owner->requests.take();
  std::byte* data = place(length, position);
  if (data == nullptr) {
    comm.owner->requests.give_back(request);
    return fail(MPI_ERR_BUFFER,
                "no room for a message of {} bytes: {} bytes are attached and {} earlier messages still lie "
                "in them. Attach more with "
                "MPI_Buffer_attach (MPI_Pack_size + MPI_BSEND_OVERHEAD for each message in flight)",
                length, size_, segments_.size());
  }
  pack_segment(data, buffer, count, type, 0, length);
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
  open_->add_message();
  request.reset(*open_);
  start_send(request);
  serial = request.serial;
  if (!request.done() || request.error == MPI_SUCCESS) [[likely]]
    return kOk;
  reclaim();
  return not_sent(dest);
}

void SendBuffer::flush(Request& request) noexcept {
  open_ = open_->close(request);
}

void SendBuffer::drain() noexcept {
  Request request;
  flush(request);
  wait(request);
  reclaim();
}

namespace {

Owned<SendBuffer>* place_of(Rank& rank, const void* owner) noexcept {
  Owned<SendBuffer>* place = &rank.buffer;
  while (*place != nullptr && (*place)->owner() != owner) place = &(*place)->next;
  return place;
}

Err find(Rank& rank, const void* owner, SendBuffer*& buffer) {
  buffer = place_of(rank, owner)->get();
  return buffer != nullptr ? kOk : fail(MPI_ERR_BUFFER, "no buffer is attached");
}

Owned<SendBuffer> take_out(Owned<SendBuffer>& place) noexcept {
  Owned<SendBuffer> taken = std::move(place);
  place = std::move(taken->next);
  return taken;
}

class Flush final : public RequestExtension {
 public:
  explicit Flush(SendBuffer& buffer) : buffer_(buffer) {}
  Err start(Request& request) override {
    buffer_.flush(request);
    return kOk;
  }
  Err outcome(Request&, MPI_Status* status) override {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    return kOk;
  }

 private:
  SendBuffer& buffer_;
};

}  // namespace

Err attach_buffer(Rank& rank, const void* owner, void* base, MPI_Count size) {
  Owned<SendBuffer>* place = place_of(rank, owner);
  if (*place != nullptr)
    return fail(MPI_ERR_BUFFER, "a buffer of {} bytes is attached already: detach it first",
                (*place)->size());
  *place = std::make_unique<SendBuffer>(owner, base, size);
  return kOk;
}

Err detach_buffer(Rank& rank, const void* owner, void** base, MPI_Count* size) {
  SendBuffer* buffer;
  TMPI_TRY(find(rank, owner, buffer));
  buffer->drain();
  *base = buffer->base();
  *size = buffer->size();
  take_out(*place_of(rank, owner));
  return kOk;
}

void drop_buffer(Rank& rank, const void* owner) noexcept {
  SendBuffer* buffer = place_of(rank, owner)->get();
  if (buffer == nullptr) return;
  buffer->drain();
  take_out(*place_of(rank, owner));
}

Err flush_buffer(Rank& rank, const void* owner) {
  SendBuffer* buffer;
  TMPI_TRY(find(rank, owner, buffer));
  buffer->drain();
  return kOk;
}

Err iflush_buffer(Rank& rank, const void* owner, Comm* comm, Request*& request) {
  SendBuffer* buffer;
  TMPI_TRY(find(rank, owner, buffer));
  request = &create_request(comm, std::make_unique<Flush>(*buffer), false);
  return start(*request);
}

Err buffer_for(Comm& comm, SendBuffer*& buffer) {
  Rank& rank = *comm.owner;
  buffer = place_of(rank, &comm)->get();
  if (buffer == nullptr && comm.session != nullptr) buffer = place_of(rank, comm.session)->get();
  if (buffer == nullptr) buffer = place_of(rank, nullptr)->get();
  if (buffer != nullptr) [[likely]]
    return kOk;
  return fail(MPI_ERR_BUFFER,
              "a buffered send needs memory: call MPI_Buffer_attach (or MPI_Comm_attach_buffer, "
              "MPI_Session_attach_buffer) first, or use "
              "MPI_Send");
}

}  // namespace tmpi::mpi
