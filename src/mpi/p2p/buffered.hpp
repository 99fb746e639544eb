// Buffered sends: the memory that a rank has attached for them - for itself, or for the messages of one
// communicator or session - and the messages in it. MPI report, 3.6. Only the rank itself uses it; messages
// leave it on any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/owned.hpp"
#include "mpi/base/error.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

class SendBuffer {
 public:
  /// MPI_BUFFER_AUTOMATIC as `base`: memory comes from the heap as needed. `owner` is the communicator or
  /// session, null for the rank's own.
  SendBuffer(const void* owner, void* base, MPI_Count size);
  ~SendBuffer();  ///< drains
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;

  const void* owner() const noexcept { return owner_; }
  void* base() const noexcept { return base_; }
  MPI_Count size() const noexcept { return automatic() ? 0 : size_; }

  /// Copies the message into the buffer and starts sending it from there; `serial` is the number of that
  /// send. MPI_ERR_BUFFER if there is no room. Does not suspend.
  Err send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
           std::uint64_t& serial);
  /// The pending `request` is done when all messages that are in the buffer now have left it. Does not
  /// suspend.
  void flush(Request& request) noexcept;
  /// Waits until every message has left the buffer. SUSPENDS.
  void drain() noexcept;

  Owned<SendBuffer> next;  ///< the rank's other buffers (Rank::buffer is the first)

 private:
  struct Segment {
    std::byte* data;
    MPI_Count length;
    Request* request;
  };
  class Epoch;  // the messages between two flushes
  bool automatic() const noexcept { return base_ == MPI_BUFFER_AUTOMATIC; }
  void reclaim() noexcept;
  void dispose(Segment& segment) noexcept;
  std::byte* place(MPI_Count length, std::size_t& position) noexcept;

  const void* owner_;
  void* base_;
  MPI_Count size_;
  std::vector<Segment> segments_;  // ordered by address
  Epoch* open_;                    // what new messages belong to
};

/// Attaches memory. MPI_ERR_BUFFER if the owner has a buffer already.
Err attach_buffer(Rank& rank, const void* owner, void* base, MPI_Count size);

/// Waits until the buffer is empty and detaches it; fills address and size. MPI_ERR_BUFFER if there is none.
/// SUSPENDS.
Err detach_buffer(Rank& rank, const void* owner, void** base, MPI_Count* size);

/// The owner goes away: detaches its buffer if it has one. SUSPENDS.
void drop_buffer(Rank& rank, const void* owner) noexcept;

/// MPI_Buffer_flush and its kind. MPI_ERR_BUFFER if there is no buffer. SUSPENDS.
Err flush_buffer(Rank& rank, const void* owner);

/// MPI_Buffer_iflush and its kind. Does not suspend.
Err iflush_buffer(Rank& rank, const void* owner, Comm* comm, Request*& request);

/// The buffer for a message of `comm`: the communicator's, else that of the session it comes from, else the rank's.
/// MPI_ERR_BUFFER if there is none.
Err buffer_for(Comm& comm, SendBuffer*& buffer);

}  // namespace tmpi::mpi
